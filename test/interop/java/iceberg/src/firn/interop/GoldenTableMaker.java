package firn.interop;

import static org.apache.iceberg.expressions.Expressions.bucket;
import static org.apache.iceberg.expressions.Expressions.day;
import static org.apache.iceberg.expressions.Expressions.hour;
import static org.apache.iceberg.expressions.Expressions.month;
import static org.apache.iceberg.expressions.Expressions.ref;
import static org.apache.iceberg.expressions.Expressions.truncate;
import static org.apache.iceberg.expressions.Expressions.year;

import java.io.Closeable;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.UpdatePartitionSpec;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.expressions.Term;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.types.Types;

/** Makes the golden tables in memory under s3://warehouse: their histories are the point, their rows are few. */
final class GoldenTableMaker implements Closeable {
  private static final int ROWS = 12;
  /** Names that need escaping in paths; decimals whose truncation stays in range (Java overflows at the edge). */
  private static final Map<String, List<Object>> FIXED = Map.of(
      "name", Arrays.asList("a/b=c d%+&", "\u00e9t\u00e9", "", null),
      "full_name", List.of("\u00e9t\u00e9", "later"),
      "decimal_18_4_col",
      List.of(new BigDecimal("-0.0001"), new BigDecimal("1.2345"), new BigDecimal("-99999999999999.0000")));
  private final InMemoryCatalog catalog = new InMemoryCatalog();
  private final Map<String, Table> tables = new LinkedHashMap<>();
  private long seed = 1;

  GoldenTableMaker() {
    catalog.initialize("golden", Map.of("warehouse", "s3://warehouse"));
    catalog.createNamespace(Namespace.of("golden"));
  }

  Map<String, Table> makeAll() throws IOException {
    for (int version = 1; version <= 3; version++) {
      allTypes(version);
      transforms(version);
      evolved(version);
    }
    gzip();
    upgraded();
    deletes(2);
    deletes(3);
    versionThree();
    return tables;
  }

  @Override
  public void close() throws IOException {
    catalog.close();
  }

  private Table create(String name, Schema schema, PartitionSpec spec, int version, Map<String, String> properties) {
    Map<String, String> all = new LinkedHashMap<>(properties);
    all.put("format-version", Integer.toString(version));
    Table table = catalog.createTable(TableIdentifier.of("golden", name), schema, spec, all);
    tables.put(name, table);
    return table;
  }

  private List<Record> rows(Table table, int count) {
    Map<String, List<Object>> fixed = new HashMap<>(FIXED);
    fixed.keySet().removeIf(column -> table.schema().findField(column) == null);
    return Rows.generate(table.schema(), count, seed++, fixed);
  }

  private List<DataFile> append(Table table, int count) throws IOException {
    List<DataFile> files = Rows.write(table, rows(table, count));
    AppendFiles append = table.newAppend();
    files.forEach(append::appendFile);
    append.commit();
    return files;
  }

  /** Metrics of all types, a manifest with existing and deleted entries, one merged manifest. */
  private void allTypes(int version) throws IOException {
    Schema schema = new Schema(Schemas.allTypes(version));
    Table table = create("v" + version + "-all-types", schema, PartitionSpec.unpartitioned(), version,
        Map.of("write.metadata.metrics.column.binary_col", "full", "write.metadata.metrics.column.int_col", "none",
            "write.metadata.metrics.column.long_col", "counts"));
    List<DataFile> first = new ArrayList<>(append(table, ROWS));
    AppendFiles two = table.newAppend();
    Rows.write(table, rows(table, ROWS)).forEach(two::appendFile);
    List<DataFile> second = Rows.write(table, rows(table, 3));
    second.forEach(two::appendFile);
    two.commit();
    table.newDelete().deleteFile(second.get(0)).commit();
    table.newOverwrite().deleteFile(first.get(0)).addFile(Rows.write(table, rows(table, 2)).get(0)).commit();
    table.rewriteManifests().clusterBy(file -> 0).commit();
  }

  /** One spec after the other, one append each: manifests of every transform; v1 keeps void fields. */
  private void transforms(int version) throws IOException {
    Schema schema = new Schema(Schemas.allTypes(version));
    Table table = create("v" + version + "-transforms", schema,
        PartitionSpec.builderFor(schema).identity("string_col").build(), version,
        Map.of("write.metadata.metrics.default", "none"));
    append(table, ROWS);
    List<Term> terms = new ArrayList<>(List.of(
        ref("date_col"), ref("decimal_9_2_col"), ref("boolean_col"), ref("double_col"), ref("uuid_col"), ref("binary_col"),
        ref("timestamptz_col"), bucket("long_col", 4), bucket("uuid_col", 4), bucket("decimal_38_10_col", 4),
        truncate("string_col", 2), truncate("long_col", 100), truncate("decimal_18_4_col", 50), truncate("binary_col", 1),
        year("date_col"), month("timestamp_col"), day("timestamptz_col"), hour("timestamp_col")));
    if (version == 3) {
      terms.addAll(List.of(ref("timestamptz_ns_col"), day("timestamp_ns_col"), bucket("timestamp_ns_col", 4)));
    }
    for (Term term : terms) {
      UpdatePartitionSpec update = table.updateSpec();
      table.spec().fields().stream().filter(field -> !field.transform().isVoid())
          .forEach(field -> update.removeField(field.name()));
      update.addField(term).commit();
      append(table, 3);
    }
  }

  /** Schema changes, a sort order, refs, a rolled back and a replaced snapshot, zstd and uncompressed manifests. */
  private void evolved(int version) throws IOException {
    Schema schema = new Schema(
        Types.NestedField.required(1, "id", Types.IntegerType.get()),
        Types.NestedField.optional(2, "name", Types.StringType.get(), "the name \u00e9"),
        Types.NestedField.optional(3, "amount", Types.DecimalType.of(9, 2)),
        Types.NestedField.optional(4, "ratio", Types.FloatType.get()),
        Types.NestedField.optional(5, "address", Types.StructType.of(
            Types.NestedField.optional(6, "street", Types.StringType.get()),
            Types.NestedField.required(7, "zip", Types.IntegerType.get()))));
    Table table = create("v" + version + "-evolved", schema,
        PartitionSpec.builderFor(schema).identity("name").build(), version,
        Map.of("write.manifest.compression-codec", "uncompressed", "owner", "golden"));
    append(table, ROWS);
    long first = table.currentSnapshot().snapshotId();
    table.updateSchema()
        .updateColumn("id", Types.LongType.get()).updateColumn("ratio", Types.DoubleType.get())
        .updateColumn("amount", Types.DecimalType.of(18, 2)).renameColumn("name", "full_name")
        .addColumn("address", "city", Types.StringType.get()).addColumn("added", Types.TimestampType.withZone())
        .moveFirst("added").deleteColumn("address.street").commit();
    table.replaceSortOrder().asc("id").desc(bucket("full_name", 8)).commit();
    table.updateProperties().set("write.manifest.compression-codec", "zstd").remove("owner").commit();
    append(table, ROWS);
    table.manageSnapshots().createTag("first", first).createBranch("audit", first).setMinSnapshotsToKeep("audit", 2)
        .setMaxSnapshotAgeMs("audit", 3_600_000L).setMaxRefAgeMs("first", 86_400_000L).commit();
    AppendFiles staged = table.newAppend().stageOnly().set("wap.id", "w1");
    Rows.write(table, rows(table, 2)).forEach(staged::appendFile);
    staged.commit();
    AppendFiles branch = table.newAppend().toBranch("audit");
    Rows.write(table, rows(table, 2)).forEach(branch::appendFile);
    branch.commit();
    table.manageSnapshots().rollbackTo(first).commit();
    append(table, 3);
  }

  private void gzip() throws IOException {
    Schema schema = new Schema(Types.NestedField.required(1, "id", Types.LongType.get()));
    Table table = create("v2-gzip", schema, PartitionSpec.unpartitioned(), 2,
        Map.of("write.metadata.compression-codec", "gzip"));
    append(table, 3);
    append(table, 3);
  }

  /** v1, then v2, then v3, an append at each: ids of rows are assigned to old manifests late. */
  private void upgraded() throws IOException {
    Schema schema = new Schema(
        Types.NestedField.required(1, "id", Types.LongType.get()),
        Types.NestedField.optional(2, "name", Types.StringType.get()));
    Table table = create("v1-upgraded-to-v3", schema, PartitionSpec.unpartitioned(), 1, Map.of());
    append(table, 4);
    for (int version = 2; version <= 3; version++) {
      table.updateProperties().set("format-version", Integer.toString(version)).commit();
      append(table, 5);
    }
    append(table, 6);
  }

  /** Position deletes by file and by partition, equality deletes, on v3 vectors of two files in one Puffin file. */
  private void deletes(int version) throws IOException {
    Schema schema = new Schema(
        Types.NestedField.required(1, "id", Types.LongType.get()),
        Types.NestedField.optional(2, "category", Types.StringType.get()),
        Types.NestedField.optional(3, "price", Types.DoubleType.get()));
    Table table = create("v" + version + "-deletes", schema,
        PartitionSpec.builderFor(schema).identity("category").build(), version, Map.of());
    Map<String, List<Object>> categories = Map.of("category", List.of("a", "b"));
    for (int i = 0; i < 2; i++) {
      AppendFiles append = table.newAppend();
      Rows.write(table, Rows.generate(schema, 20, seed++, categories)).forEach(append::appendFile);
      append.commit();
    }
    List<DataFile> files = Deletes.dataFiles(table);
    if (version == 2) {
      table.newRowDelta().addDeletes(Deletes.positions(table, files.subList(0, 1), List.of(0L, 3L))).commit();
      table.newRowDelta().addDeletes(Deletes.positions(table, Deletes.samePartition(files), List.of(1L, 5L))).commit();
    } else {
      Deletes.vectors(table, files.subList(0, 2), List.of(0L, 3L, 7L));
      Deletes.vectors(table, files.subList(0, 1), List.of(4L));
    }
    table.newRowDelta().addDeletes(Deletes.equality(table, files.get(0), "id", "price")).commit();
    Snapshot snapshot = table.currentSnapshot();
    table.newAppend().commit();
    table.newRewrite().validateFromSnapshot(snapshot.snapshotId()).deleteFile(files.get(3))
        .addFile(Deletes.copyWithout(table, files.get(3))).dataSequenceNumber(snapshot.sequenceNumber()).commit();
  }

  /** Types and members that only v3 has: defaults, unknown, variant, geometry, geography, row lineage. */
  private void versionThree() throws IOException {
    Schema schema = new Schema(
        Types.NestedField.required(1, "id", Types.LongType.get()),
        Types.NestedField.optional(2, "nothing", Types.UnknownType.get()),
        Types.NestedField.optional(3, "moment", Types.TimestampNanoType.withZone()));
    Table table = create("v3-only", schema, PartitionSpec.unpartitioned(), 3, Map.of());
    append(table, 4);
    table.updateSchema().addColumn("label", Types.StringType.get(), "with a default", Literal.of("none"))
        .addRequiredColumn("weight", Types.DecimalType.of(9, 2), "required", Literal.of(new BigDecimal("1.50")))
        .commit();
    table.updateSchema().updateColumnDefault("label", Literal.of("later")).commit();
    append(table, 4);
    table.updateSchema().addColumn("shape", Types.GeometryType.crs84())
        .addColumn("place", Types.GeographyType.crs84()).addColumn("anything", Types.VariantType.get()).commit();
  }
}
