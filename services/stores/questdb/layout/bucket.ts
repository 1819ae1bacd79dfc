const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

/**
 * Which of `buckets` (a power of two) an instrument's bars are kept in. It is part of the layout on
 * disk: another result for a name that was stored before would hide its bars.
 */
export function bucketOf(name: string, buckets: number): number {
  let hash = fnvOffset
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    hash = Math.imul(hash ^ (unit & 0xff), fnvPrime)
    hash = Math.imul(hash ^ (unit >>> 8), fnvPrime)
  }
  // The low bits of names that differ in one letter differ too little without this.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) % buckets
}
