package firn.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.PartitionKey;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.GenericFileWriterFactory;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.InternalRecordWrapper;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.io.OutputFileFactory;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Generated rows as Iceberg records, and the data files that hold them. */
final class Rows {
  private Rows() {}

  /** Seeded rows of the table's current schema; columns named in `fixed` get one of the given values in turn. */
  static List<Record> generate(Schema schema, int count, long seed, Map<String, List<Object>> fixed) {
    Random random = new Random(seed);
    List<Record> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Record row = record(schema.asStruct(), Values.struct(schema.asStruct(), random));
      for (Map.Entry<String, List<Object>> column : fixed.entrySet()) {
        row.setField(column.getKey(), column.getValue().get(i % column.getValue().size()));
      }
      rows.add(row);
    }
    return rows;
  }

  /** A record of plain values: structs, at any depth, are given as Object[]. */
  static Record record(Types.StructType type, Object[] values) {
    GenericRecord record = GenericRecord.create(type);
    for (int i = 0; i < values.length; i++) {
      record.set(i, generic(type.fields().get(i).type(), values[i]));
    }
    return record;
  }

  private static Object generic(Type type, Object value) {
    if (value == null) {
      return null;
    }
    switch (type.typeId()) {
      case STRUCT:
        return record(type.asStructType(), (Object[]) value);
      case LIST:
        List<Object> list = new ArrayList<>();
        ((List<?>) value).forEach(element -> list.add(generic(type.asListType().elementType(), element)));
        return list;
      case MAP:
        Map<Object, Object> map = new LinkedHashMap<>();
        ((Map<?, ?>) value).forEach((key, member) -> map.put(
            generic(type.asMapType().keyType(), key), generic(type.asMapType().valueType(), member)));
        return map;
      default:
        return value;
    }
  }

  /** Rows by their partition in a spec. The key of an unpartitioned spec is an empty tuple. */
  static Map<PartitionKey, List<Record>> byPartition(PartitionSpec spec, Schema schema, List<Record> rows) {
    PartitionKey key = new PartitionKey(spec, schema);
    InternalRecordWrapper wrapper = new InternalRecordWrapper(schema.asStruct());
    Map<PartitionKey, List<Record>> groups = new LinkedHashMap<>();
    for (Record row : rows) {
      key.partition(wrapper.wrap(row));
      groups.computeIfAbsent(key.copy(), unused -> new ArrayList<>()).add(row);
    }
    return groups;
  }

  /** Writes one Parquet data file for each partition that the rows fall in, with the table's write properties. */
  static List<DataFile> write(Table table, List<Record> rows) throws IOException {
    PartitionSpec spec = table.spec();
    GenericFileWriterFactory writers = new GenericFileWriterFactory.Builder(table).build();
    OutputFileFactory files = OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PARQUET).build();
    List<DataFile> written = new ArrayList<>();
    for (Map.Entry<PartitionKey, List<Record>> group : byPartition(spec, table.schema(), rows).entrySet()) {
      // An empty tuple would make the location provider write an empty path part.
      PartitionKey partition = spec.isUnpartitioned() ? null : group.getKey();
      EncryptedOutputFile file = partition == null ? files.newOutputFile() : files.newOutputFile(spec, partition);
      DataWriter<Record> writer = writers.newDataWriter(file, spec, partition);
      try (writer) {
        group.getValue().forEach(writer::write);
      }
      written.add(writer.toDataFile());
    }
    return written;
  }
}
