/** Read access to one immutable object, by byte range: what a format needs of a store, and no more. */
export interface RangedReader {
  /** Where the bytes come from, for error messages. */
  readonly location: string;
  /** The object's length in bytes. */
  readonly fileSizeBytes: number;
  /**
   * Reads exactly `lengthBytes` bytes from `offset`; the caller may keep and change the array.
   *
   * @throws invalid-data — when the range does not lie within the object
   */
  read(offset: number, lengthBytes: number): Promise<Uint8Array>;
}

/** Where a format writes an object from start to end. */
export interface ByteSink {
  /** Appends bytes; the sink may keep the array, so the caller must not change it afterwards. */
  write(bytes: Uint8Array): Promise<void>;
}
