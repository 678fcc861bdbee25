package firn.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.ManifestEntries;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/**
 * Writes golden tables out: the files of their last state byte for byte, and beside each what Java decodes from it.
 * Of tables named for transforms only the manifests and the manifest list of the current snapshot are written.
 */
final class GoldenTables {
  private final Path folder;

  GoldenTables(Path folder) {
    this.folder = folder;
  }

  void writeAll() throws IOException {
    try (GoldenTableMaker maker = new GoldenTableMaker()) {
      for (Map.Entry<String, Table> table : maker.makeAll().entrySet()) {
        dump(table.getKey(), table.getValue());
      }
    }
  }

  private void dump(String name, Table table) throws IOException {
    TableMetadata current = ((BaseTable) table).operations().current();
    boolean withData = !name.endsWith("-transforms");
    Dump dump = new Dump(folder.resolve(name), current.location(), table.io(), withData);
    dump.metadata(current.metadataFileLocation(), current);
    for (Snapshot snapshot : withData ? current.snapshots() : List.of(current.currentSnapshot())) {
      dump.snapshot(snapshot, current.specsById());
    }
    Map<String, Object> index = new LinkedHashMap<>();
    index.put("location", current.location());
    index.put("metadata-location", current.metadataFileLocation());
    index.put("files", dump.sizes);
    GoldenMain.write(folder.resolve(name).resolve("index.json"), index);
  }

  /** The files of one table, each written once. */
  private static final class Dump {
    private final Path folder;
    private final String location;
    private final FileIO io;
    private final boolean withData;
    private final Map<String, Long> sizes = new LinkedHashMap<>();
    private final Set<String> decoded = new HashSet<>();

    Dump(Path folder, String location, FileIO io, boolean withData) {
      this.folder = folder;
      this.location = location;
      this.io = io;
      this.withData = withData;
    }

    private Path file(String path) {
      return folder.resolve(path.substring(location.length() + 1));
    }

    private void copy(String path) throws IOException {
      if (sizes.containsKey(path)) {
        return;
      }
      Files.createDirectories(file(path).getParent());
      try (InputStream in = io.newInputFile(path).newStream()) {
        byte[] bytes = in.readAllBytes();
        Files.write(file(path), bytes);
        sizes.put(path, (long) bytes.length);
      }
    }

    private void beside(String path, Object content) throws IOException {
      Path file = file(path);
      GoldenMain.write(file.resolveSibling(file.getFileName() + ".decoded.json"), content);
    }

    void metadata(String path, TableMetadata metadata) throws IOException {
      copy(path);
      JsonNode json = Tool.JSON.readTree(TableMetadataParser.toJson(metadata));
      Map<String, Object> content = new LinkedHashMap<>();
      content.put("facts", ManifestEntries.facts(metadata));
      content.put("json", json);
      beside(path, content);
    }

    void snapshot(Snapshot snapshot, Map<Integer, PartitionSpec> specs) throws IOException {
      if (!decoded.add(snapshot.manifestListLocation())) {
        return;
      }
      copy(snapshot.manifestListLocation());
      List<Object> list = new ArrayList<>();
      for (ManifestFile manifest : ManifestEntries.manifests(snapshot, io)) {
        list.add(Decoded.manifestFile(manifest, specs.get(manifest.partitionSpecId())));
        manifest(manifest, specs);
      }
      beside(snapshot.manifestListLocation(), list);
    }

    private void manifest(ManifestFile manifest, Map<Integer, PartitionSpec> specs) throws IOException {
      if (!decoded.add(manifest.path())) {
        return;
      }
      copy(manifest.path());
      List<Object> entries = new ArrayList<>();
      for (ManifestEntries.Entry entry : ManifestEntries.read(manifest, io, specs)) {
        entries.add(Decoded.entry(entry, specs.get(manifest.partitionSpecId())));
        if (withData) {
          copy(entry.file().location());
        }
      }
      beside(manifest.path(), entries);
    }
  }

  /** Decoded structures under the spec's field names. */
  private static final class Decoded {
    static Map<String, Object> manifestFile(ManifestFile manifest, PartitionSpec spec) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("manifest_path", manifest.path());
      fields.put("manifest_length", manifest.length());
      fields.put("partition_spec_id", manifest.partitionSpecId());
      fields.put("content", manifest.content().id());
      fields.put("sequence_number", manifest.sequenceNumber());
      fields.put("min_sequence_number", manifest.minSequenceNumber());
      fields.put("added_snapshot_id", manifest.snapshotId());
      fields.put("added_files_count", manifest.addedFilesCount());
      fields.put("existing_files_count", manifest.existingFilesCount());
      fields.put("deleted_files_count", manifest.deletedFilesCount());
      fields.put("added_rows_count", manifest.addedRowsCount());
      fields.put("existing_rows_count", manifest.existingRowsCount());
      fields.put("deleted_rows_count", manifest.deletedRowsCount());
      fields.put("first_row_id", manifest.firstRowId());
      List<Object> partitions = new ArrayList<>();
      if (manifest.partitions() != null) {
        for (ManifestFile.PartitionFieldSummary summary : manifest.partitions()) {
          Map<String, Object> member = new LinkedHashMap<>();
          member.put("contains_null", summary.containsNull());
          member.put("contains_nan", summary.containsNaN());
          member.put("lower_bound", summary.lowerBound() == null ? null : Canonical.hex(summary.lowerBound()));
          member.put("upper_bound", summary.upperBound() == null ? null : Canonical.hex(summary.upperBound()));
          partitions.add(member);
        }
      }
      fields.put("partitions", manifest.partitions() == null ? null : partitions);
      fields.put("partition_type", spec.partitionType().toString());
      return fields;
    }

    static Map<String, Object> entry(ManifestEntries.Entry entry, PartitionSpec spec) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("status", entry.status());
      fields.put("snapshot_id", entry.snapshotId());
      fields.put("sequence_number", entry.sequenceNumber());
      fields.put("file_sequence_number", entry.fileSequenceNumber());
      fields.put("data_file", file(entry.file(), spec));
      return fields;
    }

    private static Map<String, Object> file(ContentFile<?> file, PartitionSpec spec) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("content", file.content().id());
      fields.put("file_path", file.location());
      fields.put("file_format", file.format().name());
      fields.put("partition", partition(spec.partitionType(), file.partition()));
      fields.put("partition_path", spec.partitionToPath(file.partition()));
      fields.put("record_count", file.recordCount());
      fields.put("file_size_in_bytes", file.fileSizeInBytes());
      fields.put("column_sizes", file.columnSizes());
      fields.put("value_counts", file.valueCounts());
      fields.put("null_value_counts", file.nullValueCounts());
      fields.put("nan_value_counts", file.nanValueCounts());
      fields.put("lower_bounds", hexes(file.lowerBounds()));
      fields.put("upper_bounds", hexes(file.upperBounds()));
      fields.put("key_metadata", file.keyMetadata() == null ? null : Canonical.hex(file.keyMetadata()));
      fields.put("split_offsets", file.splitOffsets());
      fields.put("equality_ids", file.equalityFieldIds());
      fields.put("sort_order_id", file.sortOrderId());
      fields.put("first_row_id", file instanceof DataFile ? ((DataFile) file).firstRowId() : null);
      if (file instanceof DeleteFile) {
        DeleteFile delete = (DeleteFile) file;
        fields.put("referenced_data_file", delete.referencedDataFile());
        fields.put("content_offset", delete.contentOffset());
        fields.put("content_size_in_bytes", delete.contentSizeInBytes());
      }
      return fields;
    }

    private static List<Object> partition(Types.StructType type, StructLike values) {
      List<Object> tuple = new ArrayList<>();
      for (int i = 0; i < type.fields().size(); i++) {
        Types.NestedField field = type.fields().get(i);
        Map<String, Object> member = new LinkedHashMap<>();
        Type fieldType = field.type();
        member.put("field-id", field.fieldId());
        member.put("name", field.name());
        member.put("type", fieldType.toString());
        Object value = values.get(i, Object.class);
        member.put("value", GoldenValues.plain(value instanceof byte[] ? ByteBuffer.wrap((byte[]) value) : value));
        tuple.add(member);
      }
      return tuple;
    }

    private static Map<Integer, String> hexes(Map<Integer, ByteBuffer> bounds) {
      if (bounds == null) {
        return null;
      }
      Map<Integer, String> hexes = new LinkedHashMap<>();
      bounds.forEach((id, bound) -> hexes.put(id, Canonical.hex(bound)));
      return hexes;
    }
  }
}
