package firn.interop;

import java.io.IOException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.OverwriteFiles;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;

/**
 * Writes a table (id long, ts timestamptz, version int, note string) that is partitioned by the hour of ts, as a pipeline
 * would: appends to the current hour, with late rows for an old one, and MERGEs on the hour before. Hours 0 to
 * coldHours - 1 are cold, the next one is the last hour, then comes the current one. Keeps its own ledger of every row
 * that a commit of its own has made part of the table. Jobs may run side by side; each loads the table anew.
 */
final class HourlyWriter {
  private static final OffsetDateTime FIRST_HOUR = OffsetDateTime.of(2026, 5, 4, 0, 0, 0, 0, ZoneOffset.UTC);
  private static final int FILES = 5;
  private static final int ROWS_PER_FILE = 20;
  /** Rows that a MERGE inserts. */
  private static final int INSERTED_ROWS = 3;

  private final Catalog catalog;
  private final TableIdentifier identifier;
  private final int coldHours;
  private final AtomicLong nextId = new AtomicLong();
  private final Map<Long, Record> ledger = new ConcurrentSkipListMap<>();

  HourlyWriter(Catalog catalog, TableIdentifier identifier, int coldHours) {
    this.catalog = catalog;
    this.identifier = identifier;
    this.coldHours = coldHours;
  }

  /** Changes a loaded table, and returns the rows that it wrote. */
  private interface Work {
    List<Record> commit(Table table) throws IOException;
  }

  /** Rows as the table should have them, in canonical text and its order. */
  List<String> rows() {
    Table table = catalog.loadTable(identifier);
    return ledger.values().stream().map(row -> Canonical.text(table.schema().asStruct(), row)).sorted().toList();
  }

  /**
   * Fills the cold hours and the last one with small files, and expires the snapshot that added the cold ones: they
   * are as old to everybody as files of last week.
   */
  void seed() throws IOException {
    Table table = catalog.loadTable(identifier);
    List<Record> rows = new ArrayList<>();
    AppendFiles cold = table.newAppend();
    for (int hour = 0; hour < coldHours; hour++) {
      write(table, newRows(table, hour, FILES * ROWS_PER_FILE, rows), FILES).forEach(cold::appendFile);
    }
    cold.commit();
    AppendFiles last = table.newAppend();
    write(table, newRows(table, coldHours, FILES * ROWS_PER_FILE, rows), FILES).forEach(last::appendFile);
    last.commit();
    table.expireSnapshots().expireOlderThan(table.currentSnapshot().timestampMillis()).retainLast(1).commit();
    rows.forEach(row -> ledger.put((Long) row.getField("id"), row));
  }

  /** Appends to the current hour and, since some rows come late, to a cold one. */
  Map<String, Object> append() {
    return job("append", table -> {
      List<Record> rows = new ArrayList<>();
      AppendFiles append = table.newAppend();
      int late = (int) (nextId.get() % coldHours);
      for (int hour : new int[] {coldHours + 1, late}) {
        write(table, newRows(table, hour, ROWS_PER_FILE, rows), 1).forEach(append::appendFile);
      }
      append.commit();
      return rows;
    });
  }

  /**
   * MERGE on the last hour, as Spark's copy-on-write with serializable isolation does it: reads, works for as long as
   * `between` takes, and commits on condition that nobody touched what it read.
   */
  Map<String, Object> merge(Runnable between) {
    return job("merge", table -> {
      Snapshot start = table.currentSnapshot();
      Expression filter = isIn(coldHours);
      List<DataFile> files = new ArrayList<>();
      try (CloseableIterable<FileScanTask> tasks = table.newScan().filter(filter).planFiles()) {
        tasks.forEach(task -> files.add(task.file()));
      }
      List<Record> rows = new ArrayList<>();
      try (CloseableIterable<Record> read =
          IcebergGenerics.read(table).useSnapshot(start.snapshotId()).where(filter).build()) {
        read.forEach(rows::add);
      }
      between.run();
      rows.stream().filter(row -> (Long) row.getField("id") % 2 == 0)
          .forEach(row -> row.setField("version", (Integer) row.getField("version") + 1));
      newRows(table, coldHours, INSERTED_ROWS, rows);
      OverwriteFiles overwrite = table.newOverwrite().validateFromSnapshot(start.snapshotId())
          .conflictDetectionFilter(filter).validateNoConflictingData().validateNoConflictingDeletes();
      files.forEach(overwrite::deleteFile);
      write(table, rows, FILES).forEach(overwrite::addFile);
      overwrite.commit();
      return rows;
    });
  }

  /** Does a job to its end, whatever comes: attempts, what each retry was for, Firn's commits meanwhile, the failure. */
  private Map<String, Object> job(String kind, Work work) {
    Table table = catalog.loadTable(identifier);
    WatchedOperations operations = (WatchedOperations) ((BaseTable) table).operations();
    Set<Long> before = WatchedOperations.snapshotIds(table.snapshots());
    String failure = null;
    try {
      work.commit(table).forEach(row -> ledger.put((Long) row.getField("id"), row));
    } catch (IOException | RuntimeException error) {
      failure = error.toString();
    }
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("kind", kind);
    result.put("attempts", operations.attempts());
    result.put("retries", operations.retries());
    result.put("firnCommits", operations.current().snapshots().stream()
        .filter(each -> WatchedOperations.isFirns(each) && !before.contains(each.snapshotId())).count());
    result.put("failure", failure);
    return result;
  }

  private static OffsetDateTime startOf(int hour) {
    return FIRST_HOUR.plusHours(hour);
  }

  private static Expression isIn(int hour) {
    return Expressions.and(
        Expressions.greaterThanOrEqual("ts", startOf(hour).toString()),
        Expressions.lessThan("ts", startOf(hour + 1).toString()));
  }

  /** New rows of one hour, which are added to `all` as well. */
  private List<Record> newRows(Table table, int hour, int count, List<Record> all) {
    List<Record> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long id = nextId.getAndIncrement();
      GenericRecord row = GenericRecord.create(table.schema());
      row.setField("id", id);
      row.setField("ts", startOf(hour).plusNanos(id * 1000));
      row.setField("version", 0);
      row.setField("note", "row " + id + " of hour " + hour);
      rows.add(row);
    }
    all.addAll(rows);
    return rows;
  }

  /** Rows of one hour, spread over so many files. */
  private static List<DataFile> write(Table table, List<Record> rows, int fileCount) throws IOException {
    List<DataFile> files = new ArrayList<>();
    for (int i = 0; i < fileCount; i++) {
      files.addAll(Rows.write(table, rows.subList(rows.size() * i / fileCount, rows.size() * (i + 1) / fileCount)));
    }
    return files;
  }
}
