import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fxd, openCliFixture } from '../../../test/support/fixtures/cli-fixture.ts'

let fixture: Awaited<ReturnType<typeof openCliFixture>>
beforeAll(async () => {
  fixture = await openCliFixture()
})
afterAll(() => fixture.close())

describe('fxd store', () => {
  test.each(['accept fxd_registry', 'accept --all', 'refill fxd_bars_brokera_zero_h1'])(
    '%s is refused by a service with the embedded store, which has no such tables',
    async (line) => {
      const { code, err } = await fxd(`store ${line}`, fixture.environment)
      expect([code, err]).toEqual([1, expect.stringContaining('embedded store')])
    },
  )

  test.each(['accept', 'accept fxd_registry --all'])(
    '%s is refused: it needs one table, or all of them by their own option',
    async (line) => {
      const { code, err } = await fxd(`store ${line}`, {})
      expect([code, err]).toEqual([64, 'fxd: fxd store accept: name one table, or give --all.\n'])
    },
  )
})
