import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stringify } from 'yaml'
import { live, openRegistryFixture, zero } from '../../test/support/fixtures/registry-fixture.ts'
import { feedManifest } from '../../test/support/samples/feed-manifest.ts'
import { barsOf } from '../core/bars/bar.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { Unavailable } from '../core/failure.ts'
import { compoundKey } from '../core/feeds/compound-key.ts'
import { silentLog } from '../platform/log/log.ts'
import { systemClock } from '../platform/system-clock.ts'
import type { RegistryStore } from '../ports/registry.ts'
import { createRegistryWriter } from '../registry/writer.ts'
import { applyManifests, issueFirstKey } from './feeds.ts'

test('a manifest that renames a symbol with bars is refused by file and line, and changes nothing', async () => {
  const fixture = await openRegistryFixture()
  onTestFinished(async () => {
    await fixture.stop()
    fixture.discard()
  })
  const path = join(fixture.folder, 'feed.yaml')
  const apply = (name?: string) => {
    const list = [{ raw: 'Volatility 75 Index', type: 'index', digits: 2, ...(name && { name }) }]
    writeFileSync(path, stringify(feedManifest({ broker: 'BROKERN', account: 'LIVE', symbols: { list } })))
    return applyManifests(path, { writer: fixture.writer, bars: fixture.stores.bars })
  }
  const shown = (): string[] =>
    fixture.registry
      .view()
      .feeds()
      .flatMap(({ key }) => fixture.registry.view().symbolsOf(key))
      .map(({ name }) => name)
  const [definition] = await apply()
  const feed = definition?.key ?? zero.key
  const bar = { time: feedSeconds(1_700_000_040), open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }
  const series = { feed, symbol: compoundKey(feed, 'Volatility 75 Index'), resolution: '1' as const }
  await fixture.stores.bars.write([{ series, bars: barsOf([bar]) }], 'backfill')
  await expect(apply('VOL75')).rejects.toThrow(
    `${path}:20: spec.symbols.list[0].name: got "VOL75", wanted "Volatility 75 Index": ` +
      'the bars of BROKERN:LIVE:Volatility 75 Index are stored under that name',
  )
  expect(shown()).toEqual(['Volatility 75 Index'])
  await apply()
})

test('a first key that was stored without an answer is issued once, and its secret opens it', async () => {
  const fixture = await openRegistryFixture()
  onTestFinished(async () => {
    await fixture.stop()
    fixture.discard()
  })
  const { registry: store, bus } = fixture.stores
  let calls = 0
  const losingFirstAnswer: RegistryStore = {
    ...store,
    async append(basedOn, rows) {
      const appended = await store.append(basedOn, rows)
      calls += 1
      if (calls === 1) throw new Unavailable('registry')
      return appended
    },
  }
  const writer = createRegistryWriter(losingFirstAnswer, fixture.registry, bus)
  const secret = await issueFirstKey(writer, [zero, live], { clock: systemClock, log: silentLog })
  const ids = fixture.registry
    .view()
    .keys.all()
    .map(({ id }) => id)
  expect(ids).toEqual([fixture.opens(secret)])
})
