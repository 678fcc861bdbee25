/** The largest array of bytes or numbers that was asked for since the last look. */
export interface AllocationWatch {
  takeBytesMax(): number;
}

interface ArrayConstructor {
  new (...given: readonly unknown[]): { readonly byteLength: number };
}

const WATCHED = [
  'ArrayBuffer',
  'Uint8Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
] as const;

/**
 * Puts itself in front of the constructors of this process: memory that is asked for and never touched does not show
 * in the resident size. An allocation that is refused counts too.
 */
export function watchAllocations(): AllocationWatch {
  let bytesMax = 0;
  const note = (bytes: number): void => {
    if (bytes > bytesMax) bytesMax = bytes;
  };
  const scope = globalThis as unknown as Record<string, ArrayConstructor>;
  for (const name of WATCHED) {
    const original = scope[name]!;
    const elementBytes =
      (original as { readonly BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
    scope[name] = new Proxy(original, {
      construct(target, given, newTarget) {
        if (typeof given[0] === 'number') note(given[0] * elementBytes);
        return Reflect.construct(target, given, newTarget) as object;
      },
    });
  }
  for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow'] as const) {
    const original = Buffer[name].bind(Buffer);
    Buffer[name] = (size: number, ...rest: []) => {
      note(size);
      return original(size, ...rest);
    };
  }
  return {
    takeBytesMax() {
      const taken = bytesMax;
      bytesMax = 0;
      return taken;
    },
  };
}
