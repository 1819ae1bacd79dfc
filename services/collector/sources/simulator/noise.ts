/** Deterministic random number: the same arguments always return the same number, in any order of calls. */
function hash(seed: number, place: number, salt: number): number {
  let h =
    Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^
    Math.imul(place | 0, 0xc2b2ae35) ^
    Math.imul(salt + 1, 0x27d4eb2f)
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b)
  return (h ^ (h >>> 16)) >>> 0
}

/** `[0, 1)` */
export const chance = (seed: number, place: number, salt: number): number => hash(seed, place, salt) / 2 ** 32

/** A whole number in `[0, end)`. */
export const pick = (seed: number, place: number, salt: number, end: number): number =>
  Math.floor(chance(seed, place, salt) * end)

/** FNV-1a: a seed from a name. */
export function seedOf(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return h >>> 0
}

/** Value noise in `[-1, 1]`: smooth between hashed points that lie `period` apart. */
export function noise(seed: number, at: number, period: number, salt: number): number {
  const place = Math.floor(at / period)
  const within = at / period - place
  const weight = within * within * (3 - 2 * within)
  const here = chance(seed, place, salt)
  return 2 * (here + (chance(seed, place + 1, salt) - here) * weight) - 1
}
