/** All random numbers of one run, from one seed (sfc32). */
export interface Chance {
  /** `[0, 1)` */
  next(): number
  /** `[0, below)` */
  int(below: number): number
  /** True with this probability. */
  is(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

export function createChance(seed: number): Chance {
  let [a, b, c, d] = [seed | 0, 0x9e3779b9 | 0, seed ^ 0x243f6a88, 1]
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return (t >>> 0) / 2 ** 32
  }
  for (let i = 0; i < 12; i++) next()
  const int = (below: number): number => Math.floor(next() * below)
  return {
    next,
    int,
    is: (probability) => next() < probability,
    pick: (list) => list[int(list.length)] as (typeof list)[number],
  }
}
