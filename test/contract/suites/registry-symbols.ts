import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { barsOf } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../../services/core/feeds/symbol.ts'
import { freeHiddenNames } from '../../../services/ingest/jobs/hidden-names.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { type RegistryFixture, zero } from '../../support/fixtures/registry-fixture.ts'
import { symbolRecord } from '../../support/samples/samples.ts'

const hourMs = 3_600_000

/** Contract of hidden names, for every store: without bars they leave the count, and a failure frees none. */
export function registrySymbols(open: () => Promise<RegistryFixture>): void {
  let fixture: RegistryFixture
  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(() => fixture.remove())
  afterEach(() => void vi.restoreAllMocks())

  const put = (name: string, fields: Partial<SymbolRecord> = {}) => {
    const symbol = compoundKey(zero.key, name)
    const body = symbolRecord({
      symbol,
      feed: zero.key,
      name,
      raw: name,
      origin: 'collector',
      hidden: true,
      ...fields,
    })
    return fixture.writer.change(() => ({ rows: [{ kind: 'symbol', id: symbol, body }], result: undefined }))
  }
  const writeBar = (name: string) => {
    const bar = {
      time: feedSeconds(1_700_000_040),
      open: 1,
      high: 1,
      low: 1,
      close: 1,
      volume: 1,
      revision: 1,
    }
    const series = { feed: zero.key, symbol: compoundKey(zero.key, name), resolution: '60' as const }
    return fixture.stores.bars.write([{ series, bars: barsOf([bar]) }], 'backfill')
  }
  const names = () =>
    fixture.registry
      .view()
      .allSymbolsOf(zero.key)
      .map(({ name }) => name)
      .filter((name) => name !== 'EURUSD' && name !== 'GBPUSD')
      .toSorted()
  const request = { feed: zero.key, symbol: '' }
  const unavailable = () =>
    vi
      .spyOn(fixture.stores.bars, 'lastTimes')
      .mockRejectedValue(new Unavailable('store', new Error('unavailable')))

  describe('RemoveSymbol', () => {
    test('frees one hidden name without bars, which then is a new name in every process', async () => {
      await put('WRONG1')
      await put('WRONG2')
      expect(names()).toEqual(['WRONG1', 'WRONG2'])
      expect(await fixture.call('RemoveSymbol', { ...request, symbol: 'WRONG1' })).toEqual({
        series: 0,
        freed: 1,
      })
      await fixture.registry.refresh()
      expect(names()).toEqual(['WRONG2'])
      expect(fixture.registry.view().versionOf(compoundKey(zero.key, 'WRONG1'))).toBe(0)
      expect(fixture.registry.view().symbolCount(zero.key)).toBe(3)
      await put('WRONG1', { hidden: false })
      await fixture.registry.refresh()
      expect(names()).toEqual(['WRONG1', 'WRONG2'])
    })

    test('with "hidden" frees all hidden names without bars, and no name with bars or that is shown', async () => {
      await put('WRONG1', { hidden: false })
      await put('STORED')
      await writeBar('STORED')
      expect(await fixture.call('RemoveSymbol', { ...request, hidden: true })).toEqual({
        series: 0,
        freed: 1,
      })
      expect(names()).toEqual(['STORED', 'WRONG1'])
      expect(await fixture.refusal('RemoveSymbol', { ...request, symbol: 'STORED' })).toEqual([
        'FAILED_PRECONDITION',
        'BROKERA:ZERO:STORED is hidden already and has stored bars; only "fxd feeds purge" removes bars.',
      ])
      expect(await fixture.call('RemoveSymbol', { ...request, hidden: true })).toEqual({
        series: 0,
        freed: 0,
      })
    })

    test('frees nothing while the store is unavailable', async () => {
      await put('WRONG3')
      unavailable()
      expect((await fixture.refusal('RemoveSymbol', { ...request, hidden: true }))[0]).toBe('UNAVAILABLE')
      expect(names()).toContain('WRONG3')
    })
  })

  test('a name that is hidden without bars for a day is freed, but not while the store is unavailable', async () => {
    await put('OLD')
    await put('STORED')
    await writeBar('STORED')
    const start = () => freeHiddenNames({ ...fixture, bars: fixture.stores.bars, log: silentLog })
    const readings = vi.spyOn(fixture.stores.bars, 'lastTimes')
    const stop = start()
    const checked = async (hours: number) => {
      const { length } = readings.mock.settledResults
      await fixture.clock.advance(hours * hourMs)
      await expect.poll(() => readings.mock.settledResults.length).toBeGreaterThan(length)
    }
    const since = () =>
      fixture.registry
        .view()
        .allSymbolsOf(zero.key)
        .find(({ name }) => name === 'OLD')?.hiddenSince
    await checked(1)
    await expect.poll(since).toBeDefined()
    const first = since()
    stop()

    // The day continues in another process.
    onTestFinished(start())
    await checked(22)
    expect(names()).toContain('OLD')
    expect(since()).toBe(first)
    const failing = unavailable()
    await fixture.clock.advance(2 * hourMs)
    await expect.poll(() => failing.mock.calls.length).toBeGreaterThan(0)
    expect(names()).toContain('OLD')
    failing.mockRestore()
    await fixture.clock.advance(hourMs)
    await expect.poll(names).toEqual(['STORED', 'WRONG1'])
  })
}
