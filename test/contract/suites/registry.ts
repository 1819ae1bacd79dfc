import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../../services/core/feeds/symbol.ts'
import type { KeyRecord } from '../../../services/core/keys/api-key.ts'
import { planLimits } from '../../../services/core/keys/plan.ts'
import { clockReadingId } from '../../../services/core/registry/clock-history.ts'
import type { RegistryBody, RegistryRow, RegistryStore } from '../../../services/ports/registry.ts'
import { freshName, type Open, openedOnce } from './opened.ts'

/** Contract of all stores of the registry; see services/ports/registry.ts. */
export function describeRegistryStore(name: string, open: Open<'registry'>): void {
  describe(`the registry in ${name}`, () => {
    const opened = openedOnce(open)
    const store = () => opened().stores.registry

    test('rows get consecutive versions, and `since` returns the newest row of each record by version', async () => {
      const anyChange = fc.record({ record: fc.nat(5), text: fc.string() })
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(anyChange, { maxLength: 5 }), { maxLength: 6 }),
          async (changes) => {
            const firstVersion = await versionOf(store())
            const names = Array.from({ length: 6 }, () => freshName('SYM'))
            const newest = new Map<string, RegistryRow>()
            let version = firstVersion
            for (const change of changes) {
              const rows = change.map(({ record, text }) => symbolRow(names[record]!, text))
              expect(await store().append(version, rows)).toEqual({
                outcome: 'stored',
                version: version + rows.length,
              })
              for (const row of rows) newest.set(row.id, { ...row, version: ++version })
            }
            const rows = [...newest.values()].sort((a, b) => a.version - b.version)
            expect(await store().since(firstVersion)).toEqual(rows)
            for (const after of [firstVersion + 1, Math.max(firstVersion, version - 1), version])
              expect(await store().since(after)).toEqual(rows.filter((row) => row.version > after))
          },
        ),
      )
    })

    test('an append that is not based on the newest version is a conflict and stores nothing', async () => {
      const [id, key] = [freshName('SYM'), freshName('key')]
      const version = await versionOf(store())
      await store().append(version, [symbolRow(id, 'first'), keyRow(key)])
      for (const basedOn of [version - 1, version, version + 1, version + 3])
        expect(await store().append(basedOn, [symbolRow(id, 'late')])).toEqual({ outcome: 'conflict' })
      expect(await store().since(version)).toEqual([
        { ...symbolRow(id, 'first'), version: version + 1 },
        { ...keyRow(key), version: version + 2 },
      ])
    })

    test('exactly one of several concurrent appends on one version is stored', async () => {
      const version = await versionOf(store())
      const rows = Array.from({ length: 8 }, () => [keyRow(freshName('key')), keyRow(freshName('key'))])
      const outcomes = await Promise.all(rows.map((pair) => store().append(version, pair)))
      expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1)
      const stored = rows[outcomes.findIndex(({ outcome }) => outcome === 'stored')]!
      expect((await store().since(version)).map(({ id }) => id)).toEqual(stored.map(({ id }) => id))
    })

    test('records of different kinds with one id are separate', async () => {
      const id = '__proto__'
      const version = await versionOf(store())
      const bodies = [symbolRow(id, ''), keyRow(id)].map((row) => ({ ...row, id }))
      await store().append(version, bodies)
      expect((await store().since(version)).map((row) => [row.kind, row.id])).toEqual([
        ['symbol', id],
        ['key', id],
      ])
    })

    test('readings of one clock are separate records; no reading replaces another', async () => {
      const version = await versionOf(store())
      const readings = [1, 2, 3].map((since) => clockRow(since))
      for (const [i, row] of readings.entries()) await store().append(version + i, [row])
      expect(await store().since(version)).toEqual(
        readings.map((row, i) => ({ ...row, version: version + 1 + i })),
      )
    })

    test('one append stores a catalogue of 5,000 symbols', async () => {
      const version = await versionOf(store())
      const rows = Array.from({ length: 5_000 }, () => symbolRow(freshName('SYM'), 'A symbol'))
      expect(await store().append(version, rows)).toEqual({ outcome: 'stored', version: version + 5_000 })
      expect(await store().since(version)).toEqual(
        rows.map((row, i) => ({ ...row, version: version + 1 + i })),
      )
    })

    test.for(['closed', 'killed'] as const)(
      'stored rows survive when the store is %s, and versions continue',
      async (how) => {
        const before = await open()
        await before.stores.registry.append(0, [keyRow('a'), keyRow('b')])
        await before.stores.registry.append(2, [
          { ...keyRow('a'), body: { ...keyRow('a').body, revoked: true } },
        ])
        const after = await before.reopen(how)
        const registry = after.stores.registry
        expect((await registry.since(0)).map(({ id, version }) => [id, version])).toEqual([
          ['b', 2],
          ['a', 3],
        ])
        expect((await registry.since(2))[0]?.body).toMatchObject({ revoked: true })
        expect(await registry.append(2, [keyRow('c')])).toEqual({ outcome: 'conflict' })
        expect(await registry.append(3, [keyRow('c')])).toEqual({ outcome: 'stored', version: 4 })
        await after.close()
      },
    )
  })
}

const versionOf = async (store: RegistryStore): Promise<number> => (await store.since(0)).at(-1)?.version ?? 0

const feed = feedKey('BROKERA', 'ZERO')

function symbolRow(name: string, description: string): RegistryBody {
  const body: SymbolRecord = {
    symbol: compoundKey(feed, name),
    feed,
    name,
    raw: `${name}.z`,
    display: name,
    description,
    type: 'forex',
    digits: 5,
    session: '24x5',
    delaySeconds: 0,
    origin: 'import',
    hidden: false,
  }
  return { kind: 'symbol', id: body.symbol, body }
}

function keyRow(id: string): RegistryBody & { kind: 'key' } {
  const body: KeyRecord = {
    id,
    name: 'a key',
    prefix: 'fxd_0123',
    secrets: [{ digest: 'ab'.repeat(32), until: utcMs(1) }],
    plan: 'pro',
    limits: planLimits.pro,
    feeds: [feed],
    allowIps: ['::1/128'],
    revoked: false,
    createdAt: utcMs(1_767_000_000_123),
  }
  return { kind: 'key', id, body }
}

function clockRow(since: number): RegistryBody & { kind: 'clock' } {
  const body = { feed, source: 'Fixed' as const, offsetSeconds: -10_800 * since, since: utcMs(since) }
  return { kind: 'clock', id: clockReadingId(body), body }
}
