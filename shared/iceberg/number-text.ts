/** Java switches to scientific notation outside these magnitudes. */
const PLAIN_MIN = 1e-3;
const PLAIN_MAX = 1e7;
/** Adjusted exponent below which `BigDecimal.toString` switches to scientific notation. */
const DECIMAL_PLAIN_EXPONENT_MIN = -6;
const FLOAT_DIGITS_MAX = 9;

/** The text of Java's `Double.toString` (JDK 19 and later: shortest digits). */
export function doubleText(value: number): string {
  return javaText(value, value.toExponential(), value.toExponential(1));
}

/** The text of Java's `Float.toString` for a number that is a float. */
export function floatText(value: number): string {
  return javaText(value, shortestFloatDigits(value), value.toExponential(1));
}

/** The text of Java's `BigDecimal.toString`: scientific where the value is very small for its scale. */
export function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString();
  const adjustedExponent = digits.length - 1 - scale;
  if (adjustedExponent >= DECIMAL_PLAIN_EXPONENT_MIN) return plainDecimalText(unscaled, scale);
  const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
  return `${unscaled < 0n ? '-' : ''}${mantissa}E${adjustedExponent}`;
}

/** A decimal in plain notation, with `scale` digits after the point. */
export function plainDecimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function javaText(value: number, shortest: string, twoDigit: string): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  // Java writes at least two digits, and where one would do it takes the nearest value of two.
  const [mantissa = '', exponentText = '0'] = (
    /^-?\d(?:e|$)/.test(shortest) ? twoDigit : shortest
  ).split('e');
  const exponent = Number(exponentText);
  const magnitude = Math.abs(value);
  if (magnitude >= PLAIN_MIN && magnitude < PLAIN_MAX) return shiftPoint(mantissa, exponent);
  return `${mantissa}E${exponent}`;
}

/** Moves the point of `d.ddd` by a power of ten, leaving at least one digit on each side. */
function shiftPoint(mantissa: string, exponent: number): string {
  const sign = mantissa.startsWith('-') ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  const [whole, fraction] =
    exponent < 0
      ? ['0', '0'.repeat(-exponent - 1) + digits]
      : [digits.slice(0, exponent + 1).padEnd(exponent + 1, '0'), digits.slice(exponent + 1)];
  return `${sign}${whole}.${fraction.replace(/0+$/, '') || '0'}`;
}

function shortestFloatDigits(value: number): string {
  for (let digits = 1; digits < FLOAT_DIGITS_MAX; digits++) {
    const text = value.toExponential(digits - 1);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential(FLOAT_DIGITS_MAX - 1);
}
