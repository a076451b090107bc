/**
 * Exact arithmetic behind every promise: rationals of BigInts, exponentials between two bounds, and
 * logarithms rounded up to a float. Nothing here trusts Math.exp or Math.log, which every browser
 * may round as it likes.
 */

/** @typedef {{n: bigint, d: bigint}} Fraction n / d with d > 0 */
/** @typedef {(bits: bigint) => [bigint, bigint]} Bounds a real number lies between the two / 2^bits */

const FAR = 64n; // e^±64 is beyond every ratio that 32-bit weights can have
const FIRST_BITS = 128n;
const FINE = 8; // a series is summed for numbers below 2^−8
const bitsOf = new DataView(new ArrayBuffer(8));

/**
 * A float as the rational number that it is.
 * @param {number} float finite and not negative
 * @returns {Fraction}
 */
export function fractionOf(float) {
  bitsOf.setFloat64(0, float);
  const pattern = bitsOf.getBigUint64(0);
  const exponent = pattern >> 52n;
  const mantissa = (pattern & (2n ** 52n - 1n)) | (exponent ? 2n ** 52n : 0n);
  const power = (exponent || 1n) - 1075n;
  return power < 0n ? { n: mantissa, d: 1n << -power } : { n: mantissa << power, d: 1n };
}

/**
 * The least float from 0 to `high` that passes a test which all larger ones pass too.
 *
 * The bit patterns of floats that are not negative are ordered as the floats are: halving the
 * interval of patterns finds it in at most 63 steps.
 * @param {(float: number) => boolean} passes
 * @param {number} high passes
 * @returns {number}
 */
export function leastFloat(passes, high) {
  bitsOf.setFloat64(0, high);
  let failing = -1n;
  let passing = bitsOf.getBigUint64(0);
  while (passing - failing > 1n) {
    const middle = (passing + failing) >> 1n;
    if (passes(floatOf(middle))) passing = middle;
    else failing = middle;
  }
  return floatOf(passing);
}

/** @param {bigint} pattern */
function floatOf(pattern) {
  bitsOf.setBigUint64(0, pattern);
  return bitsOf.getFloat64(0);
}

/**
 * The float that is not below an exact number (not negative, at most `Number.MAX_VALUE`).
 * @param {Fraction} number
 */
export function floatAbove(number) {
  return leastFloat((float) => {
    const { n, d } = fractionOf(float);
    return n * number.d >= number.n * d;
  }, Number.MAX_VALUE);
}

/**
 * A float times a whole number as a float, never below the true value.
 * @param {number} float finite and not negative
 * @param {number} count
 */
export function timesAbove(float, count) {
  const { n, d } = fractionOf(float);
  return floatAbove({ n: n * BigInt(count), d });
}

/**
 * ln(larger / smaller) as a float, never below the true value.
 * @param {number} larger
 * @param {number} smaller both integers from 1 to 2^32
 */
export function logRatio(larger, smaller) {
  if (larger === smaller) return 0;
  return logAbove((bits) => {
    const quotient = (BigInt(larger) << bits) / BigInt(smaller);
    return [quotient, quotient + 1n];
  }, Number(FAR));
}

/**
 * shift + ln(r) as a float, never below the true value, for an r that is no power of e.
 * @param {Bounds} r between e^−64 and e^64
 * @param {number} high a float that is not below the result
 * @param {Fraction} [shift]
 */
export function logAbove(r, high, shift = { n: 0n, d: 1n }) {
  return leastFloat((float) => logIsAtMost(float, r, shift), high);
}

/**
 * Is shift + ln(r) ≤ float? e^x is irrational for rational x ≠ 0: enough bits always settle it.
 * @param {number} float
 * @param {Bounds} r
 * @param {Fraction} shift
 */
export function logIsAtMost(float, r, shift) {
  const { n, d } = fractionOf(float);
  const exponent = { n: n * shift.d - shift.n * d, d: d * shift.d };
  if (exponent.n > FAR * exponent.d) return true;
  if (exponent.n < -FAR * exponent.d) return false;
  for (let bits = FIRST_BITS; ; bits *= 2n) {
    const [low, high] = expBounds(exponent, bits);
    const [least, most] = r(bits);
    if (low >= most) return true;
    if (high < least) return false;
  }
}

/**
 * e^x lies between these two integers, divided by 2^bits.
 *
 * e^x = (e^(x / 2^k))^(2^k): the series of a small number with every term rounded down and up,
 * then k squarings.
 * @param {Fraction} x
 * @param {bigint} bits
 * @returns {[bigint, bigint]}
 */
export function expBounds(x, bits) {
  if (x.n < 0n) {
    if (-x.n > bits * x.d) return [0n, 1n]; // e^−bits < 2^−bits
    const [low, high] = expBounds({ n: -x.n, d: x.d }, bits);
    const one = 1n << (2n * bits);
    return [one / high, one / low + 1n];
  }
  const whole = x.n / x.d;
  const halvings = BigInt(whole.toString(2).length + FINE);
  const work = bits + 2n * whole + halvings + 16n;
  const leastX = (x.n << work) / (x.d << halvings);
  let [low, high] = [1n << work, 1n << work];
  let [leastTerm, mostTerm] = [low, high];
  for (let k = 1n; mostTerm > 2n; k++) {
    leastTerm = ((leastTerm * leastX) >> work) / k;
    mostTerm = (((mostTerm * (leastX + 1n)) >> work) + 1n) / k + 1n;
    low += leastTerm;
    high += mostTerm;
  }
  high += mostTerm; // the terms left out are each less than half of the one before
  for (let k = 0n; k < halvings; k++) {
    low = (low * low) >> work;
    high = ((high * high) >> work) + 1n;
  }
  return [low >> (work - bits), (high >> (work - bits)) + 1n];
}
