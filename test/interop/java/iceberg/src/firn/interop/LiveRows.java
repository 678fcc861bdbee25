package firn.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.MetadataColumns;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.TypeUtil;

/** The rows of a table that no delete has taken, each with where it stands. */
record LiveRows(Schema schema, Map<String, Source> files, List<Located> rows) {
  private static final Schema PLACE = new Schema(MetadataColumns.FILE_PATH, MetadataColumns.ROW_POSITION);

  /** A data file, and the delete files that apply to it. */
  record Source(DataFile file, List<DeleteFile> deletes) {}

  /** A row of the schema, and its place. */
  record Located(DataFile file, long position, Record row) {}

  /** Live rows by file and position; those of a v3 table with their lineage. */
  static LiveRows of(Table table) throws IOException {
    Map<String, Source> files = new HashMap<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().includeColumnStats().planFiles()) {
      tasks.forEach(task -> files.put(task.file().location(), new Source(task.file(), task.deletes())));
    }
    int formatVersion = ((HasTableOperations) table).operations().current().formatVersion();
    Schema schema = formatVersion < 3 ? table.schema() : MetadataColumns.schemaWithRowLineage(table.schema());
    List<Located> rows = new ArrayList<>();
    try (CloseableIterable<Record> all = IcebergGenerics.read(table).project(TypeUtil.join(schema, PLACE)).build()) {
      for (Record row : all) {
        GenericRecord plain = GenericRecord.create(schema);
        schema.columns().forEach(column -> plain.setField(column.name(), row.getField(column.name())));
        DataFile file = files.get(row.getField(MetadataColumns.FILE_PATH.name()).toString()).file();
        rows.add(new Located(file, (Long) row.getField(MetadataColumns.ROW_POSITION.name()), plain));
      }
    }
    rows.sort((a, b) -> a.file().location().equals(b.file().location())
        ? Long.compare(a.position(), b.position())
        : a.file().location().compareTo(b.file().location()));
    return new LiveRows(schema, files, rows);
  }
}
