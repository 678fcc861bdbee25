package firn.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.MetadataColumns;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.TypeUtil;

/** Rows of a table through Iceberg's generic readers, deletes applied. */
final class Reads {
  private Reads() {}

  /** The rows of one data file, in the table's current schema. */
  static List<Record> ofFile(Table table, DataFile file) throws IOException {
    Schema schema = TypeUtil.join(table.schema(), new Schema(MetadataColumns.FILE_PATH));
    List<Record> rows = new ArrayList<>();
    try (CloseableIterable<Record> all = IcebergGenerics.read(table).project(schema).build()) {
      for (Record row : all) {
        if (row.getField(MetadataColumns.FILE_PATH.name()).toString().equals(file.location())) {
          GenericRecord plain = GenericRecord.create(table.schema());
          table.schema().columns().forEach(column -> plain.setField(column.name(), row.getField(column.name())));
          rows.add(plain);
        }
      }
    }
    return rows;
  }
}
