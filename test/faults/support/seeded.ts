/** Random numbers in [0, 1) from FXD_TEST_SEED, or from a new seed, which the caller prints. */
export function seeded(): { readonly seed: number; readonly random: () => number } {
  const given = process.env['FXD_TEST_SEED']
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given)
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new Error(`FXD_TEST_SEED is "${given}"; it must be a whole number.`)
  let state = seed | 0
  return {
    seed,
    random() {
      // mulberry32
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    },
  }
}
