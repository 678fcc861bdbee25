package org.apache.iceberg.deletes;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.puffin.Blob;
import org.apache.iceberg.puffin.Puffin;
import org.apache.iceberg.puffin.PuffinCompressionCodec;
import org.apache.iceberg.puffin.PuffinWriter;

/**
 * Writes deletion vectors and other Puffin files as test data for the unit tests: the arguments are the folder for the
 * vectors and the one for the other files. In this package, since the index of positions is visible nowhere else.
 */
public final class GoldenPuffins {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long KEY = 1L << 32;
  private static final long CONTAINER = 1L << 16;

  /** Positions from start to before end, every step-th. */
  private record Piece(long start, long end, long step) {
    void forEach(LongConsumer consumer) {
      for (long position = start; position < end; position += step) {
        consumer.accept(position);
      }
    }
  }

  /** Values of a linear congruential generator modulo 2^32, each modulo the bound. */
  private record RandomPositions(long seed, int count, long bound) {
    void forEach(LongConsumer consumer) {
      long state = seed;
      for (int index = 0; index < count; index++) {
        state = (state * 1_664_525L + 1_013_904_223L) & 0xffff_ffffL;
        consumer.accept(state % bound);
      }
    }
  }

  /** One vector: pieces set position by position, or as ranges where the name says so; or random positions. */
  private record Vector(String name, List<Piece> pieces, RandomPositions random) {
    boolean isSetByRange() {
      return name.startsWith("by-range");
    }

    PositionDeleteIndex index() {
      PositionDeleteIndex index = new BitmapPositionDeleteIndex();
      for (Piece piece : pieces) {
        if (isSetByRange()) {
          index.delete(piece.start(), piece.end());
        } else {
          piece.forEach(index::delete);
        }
      }
      if (random != null) {
        random.forEach(index::delete);
      }
      return index;
    }
  }

  private GoldenPuffins() {}

  public static void main(String[] args) throws IOException {
    Path vectors = Files.createDirectories(Path.of(args[0]));
    writeVectors(vectors.resolve("vectors.puffin"), vectors.resolve("vectors.json"));
    Path others = Files.createDirectories(Path.of(args[1]));
    writeBlobs(others.resolve("no-blobs.puffin"), List.of());
    writeBlobs(others.resolve("various-blobs.puffin"), variousBlobs());
  }

  private static Vector vector(String name, Piece... pieces) {
    return new Vector(name, List.of(pieces), null);
  }

  private static Piece one(long position) {
    return new Piece(position, position + 1, 1);
  }

  private static Piece range(long start, long end) {
    return new Piece(start, end, 1);
  }

  /** So many runs of `length` positions with a gap of one behind each, beginning with the container. */
  private static List<Piece> runs(long container, int count, int length) {
    List<Piece> pieces = new ArrayList<>();
    long start = container * CONTAINER;
    for (int offset = 0; offset < length; offset++) {
      pieces.add(new Piece(start + offset, start + (long) count * (length + 1), length + 1));
    }
    return pieces;
  }

  private static List<Vector> vectors() {
    List<Vector> vectors = new ArrayList<>();
    vectors.add(vector("empty"));
    vectors.add(vector("first", one(0)));
    vectors.add(vector("last-of-container", one(65_535)));
    vectors.add(vector("first-of-second-container", one(65_536)));
    vectors.add(vector("around-container-edge", one(65_535), one(65_536)));
    vectors.add(vector("scattered", one(1), one(3), one(500), one(70_000), one(140_000)));
    vectors.add(vector("array-of-4096", new Piece(0, 8192, 2)));
    vectors.add(vector("bitmap-of-4097", new Piece(0, 8194, 2)));
    vectors.add(vector("full-container", range(0, CONTAINER)));
    vectors.add(vector("full-second-container", range(CONTAINER, 2 * CONTAINER)));
    vectors.add(vector("dense-million", range(0, 1_000_000)));
    vectors.add(vector("all-but-one", range(0, 100_000), range(100_001, 300_000)));
    vectors.add(vector("around-2-31", one((1L << 31) - 1), one(1L << 31)));
    vectors.add(vector("around-2-32", one(KEY - 1), one(KEY), one(KEY + 1)));
    vectors.add(vector("run-across-2-32", range(KEY - 100, KEY + 100)));
    vectors.add(vector("only-key-1", one(KEY + 5)));
    vectors.add(vector("keys-0-and-5", one(7), one(5 * KEY + 9)));
    vectors.add(vector("at-2-40", one(1L << 40)));
    // Around the sizes at which runs are shorter: twice as many positions as runs, and one or two more.
    for (int extra = 0; extra <= 3; extra++) {
      List<Piece> pieces = runs(0, 10, 2);
      for (int index = 0; index < extra; index++) {
        pieces.add(one(10 * 3 - 1 + index));
      }
      pieces.add(range(2 * CONTAINER, 2 * CONTAINER + 2 + extra));
      vectors.add(new Vector("array-or-runs-" + extra, pieces, null));
    }
    for (int count = 2046; count <= 2049; count++) {
      vectors.add(new Vector("bitmap-or-runs-" + count, runs(0, count, 3), null));
    }
    // With runs, offsets appear with the fourth container, and a second byte of flags with the ninth.
    for (int count : new int[] {1, 2, 3, 4, 5, 8, 9, 17}) {
      List<Piece> pieces = new ArrayList<>();
      for (long container = 0; container < count; container++) {
        pieces.add(container % 3 == 1 ? one(container * CONTAINER + 77) : range(container * CONTAINER, container * CONTAINER + 50));
      }
      vectors.add(new Vector("runs-in-containers-of-" + count, pieces, null));
    }
    List<Piece> kinds = runs(4, 2040, 3);
    kinds.add(new Piece(CONTAINER, 2 * CONTAINER, 7));
    kinds.add(new Piece(2 * CONTAINER, 3 * CONTAINER, 100));
    kinds.add(range(3 * CONTAINER + 10, 3 * CONTAINER + 60_000));
    kinds.add(new Piece(KEY + CONTAINER, KEY + 2 * CONTAINER, 9));
    vectors.add(new Vector("every-kind", kinds, null));
    vectors.add(new Vector("random-dense", List.of(), new RandomPositions(7, 100_000, 1_000_000)));
    vectors.add(new Vector("random-sparse", List.of(), new RandomPositions(11, 4_000, 100_000_000)));
    // Ranges make runs at once, and those stay where they are no longer than the array: not what positions give.
    vectors.add(vector("by-range-of-2", range(10, 12)));
    vectors.add(vector("by-range-of-1", one(5)));
    vectors.add(vector("by-range-several", range(0, 3), range(CONTAINER, 2 * CONTAINER), range(KEY + 1, KEY + 3)));
    return vectors;
  }

  @SuppressWarnings("deprecation")
  private static void writeVectors(Path puffin, Path description) throws IOException {
    List<Vector> vectors = vectors();
    BaseDVFileWriter writer = new BaseDVFileWriter(() -> output(puffin), path -> null);
    for (Vector vector : vectors) {
      writer.delete(location(vector), vector.index(), PartitionSpec.unpartitioned(), null);
    }
    writer.close();
    List<String> lines = new ArrayList<>();
    List<DeleteFile> files = new ArrayList<>(writer.result().deleteFiles());
    files.sort(Comparator.comparing(DeleteFile::contentOffset));
    for (DeleteFile file : files) {
      Vector vector = vectors.stream().filter(each -> location(each).equals(file.referencedDataFile())).findFirst().orElseThrow();
      lines.add(JSON.writeValueAsString(describe(vector, file)));
    }
    Files.writeString(description, "[\n" + String.join(",\n", lines) + "\n]\n");
  }

  private static Map<String, Object> describe(Vector vector, DeleteFile file) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("name", vector.name());
    members.put("referencedDataFile", file.referencedDataFile());
    members.put("contentOffset", file.contentOffset());
    members.put("contentSizeBytes", file.contentSizeInBytes());
    members.put("recordCount", file.recordCount());
    members.put("isSetByRange", vector.isSetByRange());
    members.put("pieces", vector.pieces().stream().map(piece -> new long[] {piece.start(), piece.end(), piece.step()}).toList());
    if (vector.random() != null) {
      members.put("random", vector.random());
    }
    return members;
  }

  private static String location(Vector vector) {
    return "s3://bucket/table/data/" + vector.name() + ".parquet";
  }

  private static List<Blob> variousBlobs() {
    ByteBuffer text = ByteBuffer.wrap("snow on its way to becoming ice; ".repeat(100).getBytes(StandardCharsets.UTF_8));
    ByteBuffer nothing = ByteBuffer.allocate(0);
    return List.of(
        new Blob("apache-datasketches-theta-v1", List.of(1), 9_007_199_254_740_993L, 34L, text, PuffinCompressionCodec.ZSTD, Map.of("ndv", "17")),
        new Blob("apache-datasketches-theta-v1", List.of(2), Long.MAX_VALUE, 0L, text, PuffinCompressionCodec.NONE, Map.of()),
        new Blob("some-other-type-v7", List.of(3, 1, 2), -1L, -1L, nothing, null, new TreeMap<>(Map.of("quoted \"key\"", "line\nbreak", "é", "雪"))));
  }

  private static void writeBlobs(Path file, List<Blob> blobs) throws IOException {
    try (PuffinWriter writer = Puffin.write(output(file)).createdBy("golden").build()) {
      blobs.forEach(writer::add);
    }
  }

  private static OutputFile output(Path file) {
    return org.apache.iceberg.Files.localOutput(file.toFile());
  }
}
