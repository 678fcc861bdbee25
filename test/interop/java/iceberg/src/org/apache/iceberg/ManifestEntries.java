package org.apache.iceberg;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;

/** All entries of a manifest, deleted ones too, which Iceberg shows to its own package only. */
public final class ManifestEntries {
  /** The fields of `manifest_entry` beside its file. */
  public record Entry(int status, Long snapshotId, Long sequenceNumber, Long fileSequenceNumber, ContentFile<?> file) {}

  private ManifestEntries() {}

  /** Entries in file order with sequence numbers, snapshot ids and row ids inherited. */
  public static List<Entry> read(ManifestFile manifest, FileIO io, Map<Integer, PartitionSpec> specs)
      throws IOException {
    if (manifest.content() == ManifestContent.DATA) {
      return collect(ManifestFiles.read(manifest, io, specs).entries());
    }
    return collect(ManifestFiles.readDeleteManifest(manifest, io, specs).entries());
  }

  private static <F extends ContentFile<F>> List<Entry> collect(CloseableIterable<ManifestEntry<F>> entries)
      throws IOException {
    List<Entry> all = new ArrayList<>();
    try (entries) {
      for (ManifestEntry<F> entry : entries) {
        all.add(new Entry(entry.status().id(), entry.snapshotId(), entry.dataSequenceNumber(),
            entry.fileSequenceNumber(), entry.file().copy()));
      }
    }
    return all;
  }

  /** What the reader of table metadata finds in each snapshot, by the words of the spec. */
  public static List<ManifestFile> manifests(Snapshot snapshot, FileIO io) {
    return snapshot.allManifests(io);
  }

  /** Table metadata of a metadata file, gzip or not. */
  public static TableMetadata metadata(FileIO io, String location) {
    return TableMetadataParser.read(io, location);
  }

  /** Facts that a reader must derive from table metadata, beside the JSON's own members. */
  public static Map<String, Object> facts(TableMetadata metadata) {
    Map<String, Object> facts = new LinkedHashMap<>();
    facts.put("format-version", metadata.formatVersion());
    facts.put("table-uuid", metadata.uuid());
    facts.put("location", metadata.location());
    facts.put("last-sequence-number", metadata.lastSequenceNumber());
    facts.put("last-updated-ms", metadata.lastUpdatedMillis());
    facts.put("last-column-id", metadata.lastColumnId());
    facts.put("current-schema-id", metadata.currentSchemaId());
    facts.put("default-spec-id", metadata.defaultSpecId());
    facts.put("last-partition-id", metadata.lastAssignedPartitionId());
    facts.put("default-sort-order-id", metadata.defaultSortOrderId());
    facts.put("next-row-id", metadata.nextRowId());
    Snapshot current = metadata.currentSnapshot();
    facts.put("current-snapshot-id", current == null ? null : current.snapshotId());
    return facts;
  }
}
