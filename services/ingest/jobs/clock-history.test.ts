import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { feedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { Registry } from '../../core/registry/registry.ts'
import { silentLog } from '../../platform/log/log.ts'
import type { RegistryBody } from '../../ports/registry.ts'
import { applyFeeds } from '../../registry/apply-feeds.ts'
import { keepClockHistory } from './clock-history.ts'

const minuteMs = 60_000
const zero = feedKey('BROKERA', 'ZERO')
const fixed = (offsetSeconds: number): FeedDefinition =>
  defineFeed({ clock: { mode: 'Fixed', offsetSeconds } })

const readings = ({ registry }: IngestFixture) =>
  registry
    .view()
    .clocksOf(zero)
    .map(({ source, offsetSeconds, since }) => [source, offsetSeconds, since])

test('the clock history grows with each change of the definition, over restarts, and with nothing else', async () => {
  const clock = createVirtualClock()
  const folder = mkdtempSync(join(tmpdir(), 'fxd-clock-history-'))
  const begun = clock.utcMs()
  const measured = defineFeed({ account: 'MEASURED', clock: { mode: 'Measured' } })
  const first = await openIngestFixture([fixed(-10_800), measured], { clock, folder })
  await expect.poll(() => readings(first)).toEqual([['Fixed', -10_800, begun]])
  await clock.advance(minuteMs)
  await applyFeeds(first.writer, [fixed(-7_200), measured])
  const both = [
    ['Fixed', -10_800, begun],
    ['Fixed', -7_200, begun + minuteMs],
  ]
  await expect.poll(() => readings(first)).toEqual(both)
  const { version } = first.registry.view()
  await first.close(0)

  await clock.advance(minuteMs)
  const second = await openIngestFixture([fixed(-7_200), measured], { clock, folder })
  onTestFinished(() => second.remove())
  await second.registry.refresh()
  expect(readings(second)).toEqual(both)
  expect(second.registry.view().clocksOf(measured.key)).toEqual([])
  expect(second.registry.view().version).toBe(version)
})

test('a reading whose write failed is written by a retry', async () => {
  const clock = createVirtualClock()
  const registry = new Registry()
  registry.apply({ kind: 'feed', id: zero, version: 1, body: { definition: fixed(-10_800), hidden: false } })
  let isUnavailable = true
  const written: RegistryBody[] = []
  const stop = keepClockHistory({
    clock,
    log: silentLog,
    registry: { loaded: true, view: () => registry, onChange: () => () => undefined },
    writer: {
      async change(decide) {
        const { rows, result } = decide(registry)
        if (isUnavailable) throw new Unavailable('store')
        written.push(...rows)
        for (const row of rows) registry.apply({ ...row, version: registry.version + 1 })
        return result
      },
    },
  })
  await clock.advance(60_000)
  expect(written).toEqual([])
  isUnavailable = false
  await clock.advance(60_000)
  expect(written).toHaveLength(1)
  stop()
  expect(clock.pending).toBe(0)
})
