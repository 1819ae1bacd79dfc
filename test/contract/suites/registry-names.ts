import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { barsOf } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import type { RegistryFixture } from '../../support/fixtures/registry-fixture.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'
import { symbolRecord } from '../../support/samples/samples.ts'

const raw = 'Volatility 75 Index'

/** Contract of clean names that a manifest gives, for every store: no symbol with bars is renamed. */
export function registryNames(open: () => Promise<RegistryFixture>): void {
  let fixture: RegistryFixture
  let count = 0
  beforeAll(async () => {
    fixture = await open()
  })
  afterAll(() => fixture.remove())
  afterEach(() => void vi.restoreAllMocks())

  /** A feed of one object; `apply` lists the symbol with this clean name, or without one. */
  const newFeed = () => {
    const account = `NAMES${count++}`
    const feed = feedKey('BROKERN', account)
    const request = (list: readonly object[]) => ({
      manifestJson: JSON.stringify(feedManifest({ broker: 'BROKERN', account, symbols: { list } })),
      uid: account,
    })
    const listing = (name?: string) => request([{ raw, type: 'index', digits: 2, ...(name && { name }) }])
    return {
      apply: (name?: string) => fixture.call('ApplyFeed', listing(name)),
      applyNone: () => fixture.call('ApplyFeed', request([])),
      refusal: (name?: string) => fixture.refusal('ApplyFeed', listing(name)),
      shown: () =>
        fixture.registry
          .view()
          .symbolsOf(feed)
          .map(({ name, raw: of }) => [name, of]),
      writeBar: (name: string) => {
        const bar = {
          time: feedSeconds(1_700_000_040),
          open: 1,
          high: 1,
          low: 1,
          close: 1,
          volume: 1,
          revision: 1,
        }
        const series = { feed, symbol: compoundKey(feed, name), resolution: '1' as const }
        return fixture.stores.bars.write([{ series, bars: barsOf([bar]) }], 'backfill')
      },
      putCollected: (name: string) => {
        const symbol = compoundKey(feed, name)
        const body = symbolRecord({ symbol, feed, name, raw: name, origin: 'collector' })
        const rows = [{ kind: 'symbol' as const, id: symbol, body }]
        return fixture.writer.change(() => ({ rows, result: undefined }))
      },
    }
  }

  describe('ApplyFeed', () => {
    test('gives a symbol the clean name of the manifest, and takes it away, while it has no bars', async () => {
      const { apply, shown } = newFeed()
      await apply('VOL75')
      expect(shown()).toEqual([['VOL75', raw]])
      await apply()
      expect(shown()).toEqual([[raw, raw]])
    })

    test('hides the name without bars under which a collector listed the symbol', async () => {
      const { apply, applyNone, putCollected, shown } = newFeed()
      await applyNone()
      await putCollected(raw)
      await putCollected('Boom 500 Index')
      await apply('VOL75')
      expect(shown()).toEqual([
        ['Boom 500 Index', 'Boom 500 Index'],
        ['VOL75', raw],
      ])
    })

    test.for([
      ['listed', undefined, 'VOL75', raw],
      ['named', 'VOL75', 'V75', 'VOL75'],
      ['named', 'VOL75', undefined, 'VOL75'],
    ] as const)(
      'refuses to rename a symbol with bars, %s as %s before, to %s',
      async ([, from, to, kept]) => {
        const { apply, writeBar, shown, refusal } = newFeed()
        const { key } = await apply(from)
        await writeBar(kept)
        expect(await refusal(to)).toEqual([
          'INVALID_ARGUMENT',
          `manifest: spec.symbols.list[0].name: got "${to ?? raw}", wanted "${kept}": ` +
            `the bars of ${key}:${kept} are stored under that name`,
        ])
        expect(shown()).toEqual([[kept, raw]])
        await apply(from)
      },
    )

    test('refuses to rename a symbol with bars that only a collector listed', async () => {
      const { applyNone, putCollected, writeBar, shown, refusal } = newFeed()
      await applyNone()
      await putCollected(raw)
      await writeBar(raw)
      expect(await refusal('VOL75')).toEqual(['INVALID_ARGUMENT', expect.stringContaining(`wanted "${raw}"`)])
      expect(shown()).toEqual([[raw, raw]])
    })

    test('continues a symbol with bars under a new raw name', async () => {
      const { apply, applyNone, putCollected, writeBar, shown } = newFeed()
      await applyNone()
      await putCollected('VOL75')
      await writeBar('VOL75')
      await apply('VOL75')
      expect(shown()).toEqual([['VOL75', raw]])
    })

    test('gives a hidden symbol with bars another name', async () => {
      const { apply, applyNone, writeBar, shown } = newFeed()
      await apply()
      await writeBar(raw)
      await applyNone()
      await apply('VOL75')
      expect(shown()).toEqual([['VOL75', raw]])
    })

    test('renames nothing while it is unknown whether there are bars, and asks only about a renamed symbol', async () => {
      const { apply, shown, refusal } = newFeed()
      await apply()
      const reads = vi
        .spyOn(fixture.stores.bars, 'lastTimes')
        .mockRejectedValue(new Unavailable('store', new Error('unavailable')))
      expect(await refusal('VOL75')).toEqual(['UNAVAILABLE', 'The store does not answer; try again.'])
      expect(shown()).toEqual([[raw, raw]])
      expect(reads).toHaveBeenCalledTimes(1)
      reads.mockRestore()
      await apply('VOL75')
      expect(shown()).toEqual([['VOL75', raw]])
    })
  })
}
