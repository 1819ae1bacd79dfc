import fc from 'fast-check'

/** Multiplier of the random cases of each property; `make soak` raises it. */
export const effort = Number(process.env['FXD_TEST_EFFORT'] ?? 1)

if (!(effort > 0)) {
  throw new Error(
    `FXD_TEST_EFFORT is "${process.env['FXD_TEST_EFFORT']}"; it must be a number above 0, such as 20.`,
  )
}

fc.configureGlobal({ numRuns: Math.ceil(100 * effort) })
