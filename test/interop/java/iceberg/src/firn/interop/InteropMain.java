package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.MetadataColumns;
import org.apache.iceberg.OverwriteFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.UpdatePartitionSpec;
import org.apache.iceberg.aws.dynamodb.DynamoDbCatalog;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;

/** Iceberg Java as a tool of the interop run: tables through DynamoDbCatalog, rows through the generic readers. */
public final class InteropMain {
  private final DynamoDbCatalog catalog = new WatchedCatalog();

  private InteropMain() {}

  public static void main(String[] args) throws IOException {
    InteropMain tool = new InteropMain();
    Map<String, Tool.Command> commands = new HashMap<>(Map.of(
        "open", tool::open,
        "create", tool::create,
        "append", tool::append,
        "overwrite", tool::overwrite,
        "updateSchema", tool::updateSchema,
        "updateSpec", tool::updateSpec,
        "read", tool::read,
        "describe", tool::describe));
    commands.putAll(new WriterJobs(tool.catalog).commands());
    commands.putAll(new DeleteCommands(tool.catalog).commands());
    Tool.serve(commands);
  }

  private Object open(JsonNode request) {
    Map<String, String> options = new HashMap<>(TableRows.catalogOptions(request.get("endpoints")));
    options.put(PausingClients.FACTORY_KEY, PausingClients.class.getName());
    catalog.initialize("interop", options);
    catalog.createNamespace(Namespace.of(request.get("namespace").asText()));
    return true;
  }

  private Table load(JsonNode request) {
    return catalog.loadTable(TableIdentifier.parse(request.get("table").asText()));
  }

  private Object create(JsonNode request) {
    Schema schema = SchemaParser.fromJson(request.get("schema"));
    PartitionSpec.Builder spec = PartitionSpec.builderFor(schema);
    request.get("spec").forEach(field -> SpecText.addTo(spec, field.asText()));
    Map<String, String> properties = new HashMap<>();
    request.get("properties").properties().forEach(entry -> properties.put(entry.getKey(), entry.getValue().asText()));
    catalog.createTable(TableIdentifier.parse(request.get("table").asText()), schema, spec.build(), properties);
    return true;
  }

  /** Data files of `rows` new rows in `files` files for each partition. */
  private static List<DataFile> write(Table table, JsonNode request) throws IOException {
    int files = request.get("files").asInt();
    int rows = request.get("rows").asInt() / files;
    List<DataFile> written = new ArrayList<>();
    for (int i = 0; i < files; i++) {
      List<Record> records = new ArrayList<>();
      long firstId = request.get("firstId").asLong() + (long) i * rows;
      for (Object[] row : TableRows.generate(table.schema(), rows, firstId, firstId)) {
        records.add(Rows.record(table.schema().asStruct(), row));
      }
      written.addAll(Rows.write(table, records));
    }
    return written;
  }

  private Object append(JsonNode request) throws IOException {
    Table table = load(request);
    AppendFiles append = table.newAppend();
    write(table, request).forEach(append::appendFile);
    append.commit();
    return table.currentSnapshot().snapshotId();
  }

  /** Replaces the live file whose location sorts first by new ones. */
  private Object overwrite(JsonNode request) throws IOException {
    Table table = load(request);
    OverwriteFiles overwrite = table.newOverwrite().deleteFile(Deletes.dataFiles(table).get(0));
    write(table, request).forEach(overwrite::addFile);
    overwrite.commit();
    return table.currentSnapshot().snapshotId();
  }

  private Object updateSchema(JsonNode request) {
    SchemaChanges.apply(load(request), request.get("changes"));
    return true;
  }

  private Object updateSpec(JsonNode request) {
    Table table = load(request);
    UpdatePartitionSpec update = table.updateSpec();
    request.get("remove").forEach(field -> update.removeField(SpecText.term(field.asText())));
    request.get("add").forEach(field -> update.addField(SpecText.term(field.asText())));
    update.commit();
    return true;
  }

  /** Canonical rows, sorted; with `lineage` the two lineage columns follow the table's. */
  private Object read(JsonNode request) throws IOException {
    Table table = load(request);
    boolean lineage = request.path("lineage").asBoolean();
    Schema schema = lineage ? MetadataColumns.schemaWithRowLineage(table.schema()) : table.schema();
    List<String> rows = new ArrayList<>();
    IcebergGenerics.ScanBuilder scan = IcebergGenerics.read(table).project(schema);
    if (request.hasNonNull("snapshotId")) {
      scan.useSnapshot(Long.parseLong(request.get("snapshotId").asText()));
    }
    try (CloseableIterable<Record> records = scan.build()) {
      records.forEach(record -> rows.add(Canonical.text(schema.asStruct(), record)));
    }
    Collections.sort(rows);
    return rows;
  }

  private Object describe(JsonNode request) throws IOException {
    Table table = load(request);
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("metadataLocation", ((BaseTable) table).operations().current().metadataFileLocation());
    answer.put("columns", table.schema().columns().stream().map(column -> column.name()).toList());
    Snapshot snapshot = table.currentSnapshot();
    answer.put("snapshotId", snapshot == null ? null : Long.toString(snapshot.snapshotId()));
    answer.put("operation", snapshot == null ? null : snapshot.operation());
    answer.put("summary", snapshot == null ? null : snapshot.summary());
    List<Object> files = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().includeColumnStats().planFiles()) {
      tasks.forEach(task -> files.add(file(table, task)));
    }
    answer.put("files", files);
    return answer;
  }

  private static Map<String, Object> file(Table table, FileScanTask task) {
    DataFile file = task.file();
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("location", file.location());
    answer.put("specId", file.specId());
    answer.put("partition", table.specs().get(file.specId()).partitionToPath(file.partition()));
    answer.put("recordCount", file.recordCount());
    answer.put("fileSizeInBytes", file.fileSizeInBytes());
    answer.put("dataSequenceNumber", file.dataSequenceNumber());
    answer.put("firstRowId", file.firstRowId());
    answer.put("rowGroups", file.splitOffsets() == null ? null : file.splitOffsets().size());
    answer.put("deletes", task.deletes().size());
    return answer;
  }
}
