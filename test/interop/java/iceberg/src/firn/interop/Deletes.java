package firn.interop;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.BaseDeleteLoader;
import org.apache.iceberg.data.GenericFileWriterFactory;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.BaseDVFileWriter;
import org.apache.iceberg.deletes.EqualityDeleteWriter;
import org.apache.iceberg.deletes.PositionDelete;
import org.apache.iceberg.deletes.PositionDeleteWriter;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DeleteWriteResult;
import org.apache.iceberg.io.OutputFileFactory;

/** Delete files of each kind on files of a table. */
final class Deletes {
  private Deletes() {}

  /** Live data files in the order of their locations. */
  static List<DataFile> dataFiles(Table table) throws IOException {
    List<DataFile> files = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().includeColumnStats().planFiles()) {
      tasks.forEach(task -> files.add(task.file()));
    }
    files.sort((a, b) -> a.location().compareTo(b.location()));
    return files;
  }

  /** The files that share the first one's partition. */
  static List<DataFile> samePartition(List<DataFile> files) {
    return files.stream().filter(file -> file.partition().equals(files.get(0).partition())).toList();
  }

  /** One position delete file with the same positions of each given file, all of one partition. */
  static DeleteFile positions(Table table, List<DataFile> files, List<Long> positions) throws IOException {
    DataFile first = files.get(0);
    OutputFileFactory factory =
        OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PARQUET).suffix("deletes").build();
    PositionDeleteWriter<Record> writer = new GenericFileWriterFactory.Builder(table).build().newPositionDeleteWriter(
        factory.newOutputFile(table.spec(), first.partition()), table.spec(), first.partition());
    PositionDelete<Record> delete = PositionDelete.create();
    try (writer) {
      for (DataFile file : files) {
        positions.forEach(position -> writer.write(delete.set(file.location(), position)));
      }
    }
    return writer.toDeleteFile();
  }

  /** Commits one Puffin file with a vector for each file, merged with the vector it had. */
  static void vectors(Table table, List<DataFile> files, List<Long> positions) throws IOException {
    Map<String, List<DeleteFile>> current = new HashMap<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      tasks.forEach(task -> current.put(task.file().location(), task.deletes()));
    }
    BaseDeleteLoader loader = new BaseDeleteLoader(file -> table.io().newInputFile(file));
    BaseDVFileWriter writer = new BaseDVFileWriter(
        OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PUFFIN).build(),
        path -> current.get(path).isEmpty() ? null : loader.loadPositionDeletes(current.get(path), path));
    try (writer) {
      for (DataFile file : files) {
        positions.forEach(position -> writer.delete(file.location(), position, table.spec(), file.partition()));
      }
    }
    DeleteWriteResult result = writer.result();
    RowDelta delta = table.newRowDelta().validateFromSnapshot(table.currentSnapshot().snapshotId());
    result.deleteFiles().forEach(delta::addDeletes);
    result.rewrittenDeleteFiles().forEach(delta::removeDeletes);
    delta.commit();
  }

  /** An equality delete file of the file's first two rows, by the given columns. */
  static DeleteFile equality(Table table, DataFile file, String... columns) throws IOException {
    Schema schema = table.schema().select(columns);
    int[] ids = schema.columns().stream().mapToInt(field -> field.fieldId()).toArray();
    OutputFileFactory factory =
        OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PARQUET).suffix("deletes").build();
    EqualityDeleteWriter<Record> writer = new GenericFileWriterFactory.Builder(table).equalityFieldIds(ids)
        .equalityDeleteRowSchema(schema).build().newEqualityDeleteWriter(
            factory.newOutputFile(table.spec(), file.partition()), table.spec(), file.partition());
    try (writer) {
      for (Record row : Reads.ofFile(table, file).subList(0, 2)) {
        Record key = org.apache.iceberg.data.GenericRecord.create(schema);
        schema.columns().forEach(field -> key.setField(field.name(), row.getField(field.name())));
        writer.write(key);
      }
    }
    return writer.toDeleteFile();
  }

  /** A new data file with the file's rows that its deletes leave. */
  static DataFile copyWithout(Table table, DataFile file) throws IOException {
    return Rows.write(table, Reads.ofFile(table, file)).get(0);
  }
}
