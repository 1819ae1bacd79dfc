import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineFeed } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { quietListener } from '../../../../test/support/samples/quiet-listener.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { silentLog } from '../../../platform/log/log.ts'
import type { SourceListener } from '../../source.ts'
import { createMt5Csv } from './mt5-csv.ts'

const noon = Date.UTC(2026, 0, 7, 12)
const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n'
const lines = (...minutes: readonly number[]): string =>
  minutes
    .map((minute) => new Date(noon + minute * 60_000).toISOString())
    .map(
      (at) => `${at.slice(0, 10).replaceAll('-', '.')}\t${at.slice(11, 19)}\t1.1\t1.1\t1.1\t1.1\t1\t0\t3\r\n`,
    )
    .join('')

test('with a measured clock, bars of delayed symbols are not reported as ticks', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fxd-ticks-'))
  const stop = new AbortController()
  onTestFinished(async () => {
    stop.abort()
    await rm(folder, { recursive: true })
  })
  const listed = { type: 'forex', digits: 5 }
  const definition = defineFeed({
    clock: { mode: 'Measured' },
    symbols: {
      list: [
        { raw: 'EURUSD', ...listed },
        { raw: 'SLOW', ...listed, delaySeconds: 900 },
      ],
    },
  })
  const path = (raw: string): string => join(folder, `${raw}_M1.csv`)
  for (const raw of ['EURUSD', 'SLOW']) await writeFile(path(raw), header + lines(-30))
  const clock = createVirtualClock({ start: noon })
  const source = createMt5Csv({ definition, path: folder, follow: true, clock, log: silentLog })
  const closed: string[] = []
  const ticks: number[] = []
  const quiet = quietListener(clock)
  const listener: SourceListener = {
    ...quiet,
    closed(batch) {
      closed.push(...batch.map(({ raw }) => raw))
      return quiet.closed(batch)
    },
    tick: (newest) => void ticks.push(newest),
  }
  await source.open(listener, stop.signal)
  const everything = { from: feedSeconds(0), to: feedSeconds(1e11) }
  const isSeen = async (raw: string): Promise<boolean> => {
    await clock.advance(200)
    return closed.includes(raw)
  }
  const seen = async (raw: string): Promise<void> => {
    await expect.poll(() => isSeen(raw), { interval: 2, timeout: 10_000 }).toBe(true)
  }
  for (const raw of ['EURUSD', 'SLOW'])
    for await (const _ of source.read({ raw, resolution: '1' }, everything, stop.signal));
  await appendFile(path('SLOW'), lines(-17, -16))
  await seen('SLOW')
  await appendFile(path('EURUSD'), lines(-2, -1))
  await seen('EURUSD')
  await expect.poll(() => ticks.length).toBeGreaterThan(0)
  expect(Math.min(...ticks)).toBe(noon / 1_000 - 120)
})
