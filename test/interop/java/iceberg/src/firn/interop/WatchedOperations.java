package firn.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.EncryptionManager;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.LocationProvider;

/** The operations of one loaded table, which note each commit that lost, and to whom. */
final class WatchedOperations implements TableOperations {
  private static final String FIRN_RUN_ID = "firn.run-id";

  private final TableOperations watched;
  private final List<String> retries = new ArrayList<>();
  private int attempts;
  private TableMetadata lostBase;

  WatchedOperations(TableOperations watched) {
    this.watched = watched;
  }

  static boolean isFirns(Snapshot snapshot) {
    return snapshot.summary().containsKey(FIRN_RUN_ID);
  }

  static Set<Long> snapshotIds(Iterable<Snapshot> snapshots) {
    return StreamSupport.stream(snapshots.spliterator(), false).map(Snapshot::snapshotId).collect(Collectors.toSet());
  }

  int attempts() {
    return attempts;
  }

  /**
   * What had come in between, for each attempt after the first: `firn`, `other` for snapshots of others only, `nothing`
   * where the table has no new snapshot.
   */
  List<String> retries() {
    return retries;
  }

  @Override
  public void commit(TableMetadata base, TableMetadata metadata) {
    attempts++;
    if (lostBase != null) {
      retries.add(between(lostBase, base));
    }
    try {
      watched.commit(base, metadata);
    } catch (CommitFailedException lost) {
      lostBase = base;
      throw lost;
    }
  }

  private static String between(TableMetadata before, TableMetadata now) {
    Set<Long> known = snapshotIds(before.snapshots());
    List<Snapshot> added = now.snapshots().stream().filter(each -> !known.contains(each.snapshotId())).toList();
    if (added.isEmpty()) {
      return "nothing";
    }
    return added.stream().anyMatch(WatchedOperations::isFirns) ? "firn" : "other";
  }

  @Override
  public TableMetadata current() {
    return watched.current();
  }

  @Override
  public TableMetadata refresh() {
    return watched.refresh();
  }

  @Override
  public FileIO io() {
    return watched.io();
  }

  @Override
  public EncryptionManager encryption() {
    return watched.encryption();
  }

  @Override
  public String metadataFileLocation(String fileName) {
    return watched.metadataFileLocation(fileName);
  }

  @Override
  public LocationProvider locationProvider() {
    return watched.locationProvider();
  }

  @Override
  public TableOperations temp(TableMetadata uncommitted) {
    return watched.temp(uncommitted);
  }

  @Override
  public long newSnapshotId() {
    return watched.newSnapshotId();
  }

  @Override
  public boolean requireStrictCleanup() {
    return watched.requireStrictCleanup();
  }
}
