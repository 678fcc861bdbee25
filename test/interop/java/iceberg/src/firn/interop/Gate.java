package firn.interop;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Where a thread stops until another one has seen it there and lets it go on; open for good after that. */
final class Gate {
  private static final long SECONDS_MAX = 120;

  private final CountDownLatch reached = new CountDownLatch(1);
  private final CountDownLatch opened = new CountDownLatch(1);

  void pass() {
    reached.countDown();
    await(opened);
  }

  void awaitReached() {
    await(reached);
  }

  /** Nobody will come any more. */
  void leave() {
    reached.countDown();
  }

  void open() {
    opened.countDown();
  }

  private static void await(CountDownLatch latch) {
    try {
      if (!latch.await(SECONDS_MAX, TimeUnit.SECONDS)) {
        throw new IllegalStateException("nobody came to the gate in " + SECONDS_MAX + " s");
      }
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
