/** Divisors of suffixes. A factor would not be exact: 350 * 1e-3 is not 0.35. */
const divisors = new Map([
  ['n', 1e9],
  ['u', 1e6],
  ['m', 1e3],
])
const factors = new Map([
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['T', 1e12],
  ['P', 1e15],
  ['E', 1e18],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
  ['Ti', 2 ** 40],
  ['Pi', 2 ** 50],
  ['Ei', 2 ** 60],
])
const quantityShape = /^(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(|n|u|m|k|[MGTPE]i?|Ki)$/

/** The number of `500m`, `0.5`, `1e9` or `1Gi`; `undefined` for anything else. */
function quantityOf(value: unknown): number | undefined {
  const match = quantityShape.exec(String(value))
  if (!match) return undefined
  const suffix = match[2] ?? ''
  return (Number(match[1]) * (factors.get(suffix) ?? 1)) / (divisors.get(suffix) ?? 1)
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'object' && Object.values(value).every((each) => isEmpty(each)))

/**
 * Whether the existing object has all wanted fields. It may have more: the API server adds defaults, and others add
 * items to lists. Quantities in different units are equal, and a missing value equals an empty one.
 */
export function covers(existing: unknown, wanted: unknown): boolean {
  if (isEmpty(wanted)) return true
  if (Array.isArray(wanted))
    return Array.isArray(existing) && wanted.every((item) => existing.some((each) => covers(each, item)))
  if (typeof wanted === 'object')
    return (
      typeof existing === 'object' &&
      existing !== null &&
      Object.entries(wanted as object).every(([name, value]) =>
        covers((existing as Record<string, unknown>)[name], value),
      )
    )
  if (existing === wanted) return true
  if (typeof existing === 'boolean' || typeof wanted === 'boolean') return false
  // The API server leaves out a zero.
  if (existing === undefined) return wanted === 0 || wanted === ''
  const quantity = quantityOf(wanted)
  return quantity !== undefined && quantity === quantityOf(existing)
}
