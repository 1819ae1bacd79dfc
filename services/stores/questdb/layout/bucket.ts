const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

/**
 * Which of `buckets` (a power of two) contains an instrument's bars. This is part of the layout on disk: a different
 * result for a stored name would hide its bars.
 */
export function bucketOf(name: string, buckets: number): number {
  let hash = fnvOffset
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    hash = Math.imul(hash ^ (unit & 0xff), fnvPrime)
    hash = Math.imul(hash ^ (unit >>> 8), fnvPrime)
  }
  // Without this the low bits of similar names differ too little.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) % buckets
}
