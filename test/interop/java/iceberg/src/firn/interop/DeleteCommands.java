package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.ChangelogScanTask;
import org.apache.iceberg.ContentScanTask;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileContent;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestReader;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.RewriteFiles;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.GenericFileWriterFactory;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.io.DeleteWriteResult;
import org.apache.iceberg.io.OutputFileFactory;
import org.apache.iceberg.util.ContentFileUtil;

/** Commits of programs that delete rows, or maintain tables with deletes, as commands of the tool. */
final class DeleteCommands {
  /** Field id of the key column `id`. */
  private static final int ID_FIELD = 1;

  private final Catalog catalog;

  DeleteCommands(Catalog catalog) {
    this.catalog = catalog;
  }

  Map<String, Tool.Command> commands() {
    return Map.of(
        "deleteRows", this::deleteRows,
        "compact", this::compact,
        "expire", this::expire,
        "setProperties", this::setProperties,
        "snapshots", this::snapshots,
        "deleteCounts", this::deleteCounts,
        "changelog", this::changelog);
  }

  private Table load(JsonNode request) {
    return catalog.loadTable(TableIdentifier.parse(request.get("table").asText()));
  }

  /**
   * Deletes the live rows whose `id` leaves a `remainder` by a `modulus`: by position delete files for each `file` or
   * `partition`, by `vector`, or by `equality` of `columns` in the spec `specId`. With `rows` and `firstId` the same commit
   * adds rows. Answers with the number of rows that were chosen.
   */
  private Object deleteRows(JsonNode request) throws IOException {
    Table table = load(request);
    LiveRows live = LiveRows.of(table);
    List<LiveRows.Located> rows = chosen(table, live, request);
    RowDelta delta = table.newRowDelta().validateFromSnapshot(table.currentSnapshot().snapshotId());
    DeleteWrites writes = new DeleteWrites(table);
    String by = request.get("by").asText();
    switch (by) {
      case "file", "partition" -> writes.positions(rows, by.equals("file")).forEach(delta::addDeletes);
      case "vector" -> {
        DeleteWriteResult result = writes.vectors(live, rows);
        result.deleteFiles().forEach(delta::addDeletes);
        result.rewrittenDeleteFiles().forEach(delta::removeDeletes);
      }
      case "equality" -> {
        List<String> columns = new ArrayList<>();
        request.get("columns").forEach(column -> columns.add(column.asText()));
        PartitionSpec spec = table.specs().get(request.get("specId").asInt());
        writes.equality(rows, spec, columns.toArray(new String[0])).forEach(delta::addDeletes);
      }
      default -> throw new IllegalArgumentException("no such kind of delete: " + by);
    }
    addRows(table, delta, request);
    delta.commit();
    return rows.size();
  }

  private static List<LiveRows.Located> chosen(Table table, LiveRows live, JsonNode request) {
    long modulus = request.get("modulus").asLong();
    long remainder = request.get("remainder").asLong();
    String idName = table.schema().findField(ID_FIELD).name();
    List<LiveRows.Located> rows = live.rows().stream()
        .filter(row -> ((Number) row.row().getField(idName)).longValue() % modulus == remainder).toList();
    if (rows.isEmpty()) {
      throw new IllegalArgumentException("no rows to delete");
    }
    return rows;
  }

  private static void addRows(Table table, RowDelta delta, JsonNode request) throws IOException {
    if (!request.hasNonNull("rows")) {
      return;
    }
    long firstId = request.get("firstId").asLong();
    List<Record> added = new ArrayList<>();
    for (Object[] row : TableRows.generate(table.schema(), request.get("rows").asInt(), firstId, firstId)) {
      added.add(Rows.record(table.schema().asStruct(), row));
    }
    Rows.write(table, added).forEach(delta::addRows);
  }

  /** Rewrites all files of each partition into one without its deleted rows, as engines compact. Answers with the number of inputs. */
  private Object compact(JsonNode request) throws IOException {
    Table table = load(request);
    Snapshot head = table.currentSnapshot();
    LiveRows live = LiveRows.of(table);
    DeleteWrites writes = new DeleteWrites(table);
    Map<String, List<LiveRows.Located>> groups = new LinkedHashMap<>();
    live.rows().forEach(row ->
        groups.computeIfAbsent(writes.partitionName(row.file()), unused -> new ArrayList<>()).add(row));
    RewriteFiles rewrite = table.newRewrite().validateFromSnapshot(head.snapshotId())
        .dataSequenceNumber(head.sequenceNumber());
    for (List<LiveRows.Located> group : groups.values()) {
      rewrite.addFile(write(table, live, group));
    }
    for (LiveRows.Source source : live.files().values()) {
      rewrite.deleteFile(source.file());
      source.deletes().stream().filter(ContentFileUtil::isFileScoped).forEach(rewrite::deleteFile);
    }
    rewrite.commit();
    return live.files().size();
  }

  private static DataFile write(Table table, LiveRows live, List<LiveRows.Located> rows) throws IOException {
    DataFile first = rows.get(0).file();
    PartitionSpec spec = table.specs().get(first.specId());
    OutputFileFactory factory = OutputFileFactory.builderFor(table, 1, 1).format(FileFormat.PARQUET).build();
    DataWriter<Record> writer = new GenericFileWriterFactory.Builder(table).dataSchema(live.schema()).build()
        .newDataWriter(
            spec.isUnpartitioned() ? factory.newOutputFile() : factory.newOutputFile(spec, first.partition()), spec,
            first.partition());
    try (writer) {
      rows.forEach(row -> writer.write(row.row()));
    }
    return writer.toDataFile();
  }

  /** Expires all snapshots but the head, and deletes the objects that only they needed. */
  private Object expire(JsonNode request) {
    Table table = load(request);
    table.expireSnapshots().expireOlderThan(System.currentTimeMillis()).retainLast(1).commit();
    return true;
  }

  private Object setProperties(JsonNode request) {
    var update = load(request).updateProperties();
    request.get("properties").properties().forEach(entry -> update.set(entry.getKey(), entry.getValue().asText()));
    update.commit();
    return true;
  }

  /** Ids of all retained snapshots, oldest first. */
  private Object snapshots(JsonNode request) {
    List<String> answer = new ArrayList<>();
    for (Snapshot snapshot : load(request).snapshots()) {
      answer.add(Long.toString(snapshot.snapshotId()));
    }
    return answer;
  }

  /** The live delete files of the head by kind, counted from its manifests, and rows that they say they delete. */
  private Object deleteCounts(JsonNode request) throws IOException {
    Table table = load(request);
    Map<String, Integer> counts = new LinkedHashMap<>();
    for (String kind : List.of("vectors", "fileScoped", "partitionScoped", "equality", "positionRows", "equalityRows")) {
      counts.put(kind, 0);
    }
    for (ManifestFile manifest : table.currentSnapshot().deleteManifests(table.io())) {
      try (ManifestReader<DeleteFile> files = ManifestFiles.readDeleteManifest(manifest, table.io(), table.specs())) {
        for (DeleteFile file : files) {
          boolean isEquality = file.content() == FileContent.EQUALITY_DELETES;
          counts.merge(kind(file), 1, Integer::sum);
          counts.merge(isEquality ? "equalityRows" : "positionRows", (int) file.recordCount(), Integer::sum);
        }
      }
    }
    return counts;
  }

  private static String kind(DeleteFile file) {
    if (file.content() == FileContent.EQUALITY_DELETES) {
      return "equality";
    }
    if (ContentFileUtil.isDV(file)) {
      return "vectors";
    }
    return ContentFileUtil.isFileScoped(file) ? "fileScoped" : "partitionScoped";
  }

  /** What a reader of changes since a snapshot sees: snapshot, operation and file of each task, in order. */
  private Object changelog(JsonNode request) throws IOException {
    Table table = load(request);
    long from = Long.parseLong(request.get("fromSnapshotId").asText());
    List<String> answer = new ArrayList<>();
    try (CloseableIterable<ChangelogScanTask> tasks =
        table.newIncrementalChangelogScan().fromSnapshotExclusive(from).planFiles()) {
      for (ChangelogScanTask task : tasks) {
        String location = ((ContentScanTask<?>) task).file().location();
        answer.add(task.changeOrdinal() + " " + task.commitSnapshotId() + " " + task.operation() + " " + location);
      }
    }
    answer.sort(null);
    return answer;
  }
}
