import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  openRegistryFixture,
  type RegistryFixture,
  zero,
} from '../../../test/support/fixtures/registry-fixture.ts'
import { barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { SymbolOrigin } from '../../core/feeds/symbol.ts'

let fixture: RegistryFixture
beforeAll(async () => {
  fixture = await openRegistryFixture()
})
afterAll(() => fixture.remove())

async function add(name: string, origin: SymbolOrigin): Promise<void> {
  const symbol = compoundKey(zero.key, name)
  const body = {
    symbol,
    feed: zero.key,
    name,
    raw: name,
    display: name,
    description: '',
    type: 'cfd' as const,
    digits: 2,
    session: '24x5' as const,
    delaySeconds: 0,
    origin,
    hidden: false,
  }
  await fixture.writer.change(() => ({ rows: [{ kind: 'symbol', id: symbol, body }], result: undefined }))
}

const remove = (symbol: string) => fixture.call('RemoveSymbol', { feed: zero.key, symbol })
const refusal = (symbol: string) => fixture.refusal('RemoveSymbol', { feed: zero.key, symbol })

test('an imported symbol leaves the catalogue and its bars stay stored', async () => {
  await add('MISTYPED', 'import')
  const symbol = compoundKey(zero.key, 'MISTYPED')
  const bars = barsOf([
    { time: feedSeconds(1_700_000_040), open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 },
  ])
  const series = { feed: zero.key, symbol, resolution: '60' as const }
  await fixture.stores.bars.write([{ series, bars }], 'backfill')

  expect(await remove('MISTYPED')).toEqual({ series: 1, freed: 0 })
  expect(fixture.registry.view().symbol(symbol)).toBeUndefined()
  expect((await fixture.stores.bars.lastTimes(zero.key)).size).toBe(1)
  expect((await refusal('MISTYPED'))[0]).toBe('FAILED_PRECONDITION')
  expect(await refusal('NEVER')).toEqual(['NOT_FOUND', 'BROKERA:ZERO has no symbol "NEVER".'])
})

test('a symbol that a manifest or a collector lists stays, and the refusal names which of them lists it', async () => {
  await add('LISTED', 'collector')
  expect(await refusal('LISTED')).toEqual([
    'FAILED_PRECONDITION',
    'The collector of BROKERA:ZERO lists "LISTED"; ingest hides it once its source does not list it.',
  ])
  expect(await refusal('EURUSD')).toEqual([
    'FAILED_PRECONDITION',
    'The Feed manifest of BROKERA:ZERO lists "EURUSD"; remove it from its spec.symbols.list first.',
  ])
  const shown = fixture.registry.view().symbolsOf(zero.key)
  expect(shown.map(({ name }) => name)).toEqual(['EURUSD', 'GBPUSD', 'LISTED'])
})

test('a removal that fails while the store is unavailable removes nothing and can be repeated', async () => {
  await add('AGAIN', 'import')
  const unavailable = new Unavailable('store', new Error('unavailable'))
  vi.spyOn(fixture.stores.bars, 'lastTimes').mockRejectedValueOnce(unavailable)
  expect((await refusal('AGAIN'))[0]).toBe('UNAVAILABLE')
  expect(fixture.registry.view().symbol(compoundKey(zero.key, 'AGAIN'))).toBeDefined()
  expect(await remove('AGAIN')).toEqual({ series: 0, freed: 0 })
})
