package firn.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.PartitionKey;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.BaseDeleteLoader;
import org.apache.iceberg.data.GenericFileWriterFactory;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.BaseDVFileWriter;
import org.apache.iceberg.deletes.EqualityDeleteWriter;
import org.apache.iceberg.deletes.PositionDelete;
import org.apache.iceberg.deletes.PositionDeleteWriter;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.io.DeleteWriteResult;
import org.apache.iceberg.io.OutputFileFactory;

/** Delete files for given rows of a table, in any of its specs. */
final class DeleteWrites {
  private final Table table;

  DeleteWrites(Table table) {
    this.table = table;
  }

  private OutputFileFactory factory(FileFormat format) {
    return OutputFileFactory.builderFor(table, 1, 1).format(format).suffix("deletes").build();
  }

  private static EncryptedOutputFile newFile(OutputFileFactory factory, PartitionSpec spec, StructLike partition) {
    return spec.isUnpartitioned() ? factory.newOutputFile() : factory.newOutputFile(spec, partition);
  }

  /** What files of one partition share; files of different specs never do. */
  String partitionName(ContentFile<?> file) {
    return file.specId() + " " + table.specs().get(file.specId()).partitionToPath(file.partition());
  }

  /** Position delete files, one for each data file or for each partition; rows come by file and position. */
  List<DeleteFile> positions(List<LiveRows.Located> rows, boolean forEachFile) throws IOException {
    Map<String, List<LiveRows.Located>> groups = new LinkedHashMap<>();
    for (LiveRows.Located row : rows) {
      String name = forEachFile ? row.file().location() : partitionName(row.file());
      groups.computeIfAbsent(name, unused -> new ArrayList<>()).add(row);
    }
    OutputFileFactory factory = factory(FileFormat.PARQUET);
    List<DeleteFile> written = new ArrayList<>();
    for (List<LiveRows.Located> group : groups.values()) {
      StructLike partition = group.get(0).file().partition();
      PartitionSpec spec = table.specs().get(group.get(0).file().specId());
      PositionDeleteWriter<Record> writer = new GenericFileWriterFactory.Builder(table).build()
          .newPositionDeleteWriter(newFile(factory, spec, partition), spec, partition);
      PositionDelete<Record> delete = PositionDelete.create();
      try (writer) {
        group.forEach(row -> writer.write(delete.set(row.file().location(), row.position())));
      }
      written.add(writer.toDeleteFile());
    }
    return written;
  }

  /** Vectors for the rows, which take in all that is deleted by position already, and the delete files they replace. */
  DeleteWriteResult vectors(LiveRows live, List<LiveRows.Located> rows) throws IOException {
    BaseDeleteLoader loader = new BaseDeleteLoader(file -> table.io().newInputFile(file));
    BaseDVFileWriter writer = new BaseDVFileWriter(factory(FileFormat.PUFFIN), path -> {
      List<DeleteFile> former = live.files().get(path).deletes().stream()
          .filter(file -> file.content() == FileContent.POSITION_DELETES).toList();
      return former.isEmpty() ? null : loader.loadPositionDeletes(former, path);
    });
    try (writer) {
      for (LiveRows.Located row : rows) {
        PartitionSpec spec = table.specs().get(row.file().specId());
        writer.delete(row.file().location(), row.position(), spec, row.file().partition());
      }
    }
    return writer.result();
  }

  /** Equality delete files of the rows' keys: one for each partition of the spec, one at all if it has no fields. */
  List<DeleteFile> equality(List<LiveRows.Located> rows, PartitionSpec spec, String... columns) throws IOException {
    Schema schema = table.schema().select(columns);
    int[] ids = schema.columns().stream().mapToInt(field -> field.fieldId()).toArray();
    OutputFileFactory factory = factory(FileFormat.PARQUET);
    List<Record> records = rows.stream().map(LiveRows.Located::row).toList();
    List<DeleteFile> written = new ArrayList<>();
    for (Map.Entry<PartitionKey, List<Record>> group : Rows.byPartition(spec, table.schema(), records).entrySet()) {
      PartitionKey partition = spec.isUnpartitioned() ? null : group.getKey();
      EqualityDeleteWriter<Record> writer = new GenericFileWriterFactory.Builder(table).equalityFieldIds(ids)
          .equalityDeleteRowSchema(schema).build()
          .newEqualityDeleteWriter(newFile(factory, spec, partition), spec, partition);
      try (writer) {
        for (Record row : group.getValue()) {
          Record key = GenericRecord.create(schema);
          schema.columns().forEach(field -> key.setField(field.name(), row.getField(field.name())));
          writer.write(key);
        }
      }
      written.add(writer.toDeleteFile());
    }
    return written;
  }
}
