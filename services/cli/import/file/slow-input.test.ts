import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { exportText, minutes } from '../../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../../test/support/fixtures/import-fixture.ts'

/** When the delayed last bar counts as ended, in seconds: soon after the start of the service. */
const end = Math.ceil(Date.now() / 1_000) + 25
const open = Math.floor(end / 60) * 60 - 120
useImportFixture({
  ZERO: { symbols: { list: [{ raw: 'SLOW', type: 'cfd', digits: 2, delaySeconds: end - open - 60 }] } },
})

/** Resolves at this time, in seconds. */
const at = (seconds: number): Promise<void> => pause(Math.max(0, seconds * 1_000 - Date.now()))

test('a bar that ended while standard input was read counts as forming', async () => {
  const bars = minutes(open - 120, 3, 190, 2)
  await at(end - 8)
  async function* input(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(exportText(bars))
    await at(end + 1)
  }
  expect(Date.now()).toBeLessThan(end * 1_000 - 500)
  const { code, json } = await fixture.importingPiped(input(), ...seriesOptions('SLOW'), '--json')
  expect(code).toBe(0)
  expect(json).toMatchObject({ accepted: 2, forming: 1 })
}, 60_000)
