import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { exportText, minutes } from './client/bars.ts'
import { importFile } from './client/input.ts'
import { issueKey, ungrantedFeed } from './client/keys.ts'
import { names, symbolsOf } from './client/symbols.ts'

let list: ReturnType<typeof symbolsOf>['list']
let single: ReturnType<typeof symbolsOf>['single']
let refusal: ReturnType<typeof symbolsOf>['refusal']
beforeAll(async () => {
  ;({ list, single, refusal } = symbolsOf((await issueKey()).key))
})

describe('compound keys', () => {
  test('a compound key is broker, account and symbol, the first two in upper case', async () => {
    for (const { symbol, exchange, feed } of (await list({ limit: 1000 })).symbols) {
      expect(symbol).toMatch(/^[A-Z0-9]+:[A-Z0-9]+:[^:]+$/)
      expect(symbol.startsWith(`${feed}:`)).toBe(true)
      expect(feed.startsWith(`${exchange}:`)).toBe(true)
    }
  })

  test("the raw name's suffix is stripped and only the clean name is exposed", async () => {
    const found = names(await list({ limit: 1000 }))
    expect(found).toContain('BROKERA:ZERO:EURUSD')
    expect(found.filter((name) => name.endsWith('.z'))).toEqual([])
    expect(await refusal({ symbol: 'BROKERA:ZERO:EURUSD.z' })).toMatchObject({ status: 404 })
  })

  test('an import under a raw name is refused naming the clean name, and the raw name is not listed', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'fxd-raw-')), 'GBPUSD.z_M1.csv')
    writeFileSync(file, exportText(minutes(Date.UTC(2024, 0, 8) / 1000, 10, 1.2, 5)))
    const options = { feed: 'BROKERA:ZERO', symbol: 'GBPUSD.z', resolution: '1' }
    const { code, stderr } = await importFile(file, options).finally(() =>
      rmSync(dirname(file), { recursive: true }),
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining('wanted "GBPUSD": ".z" is a suffix')])
    expect(await refusal({ symbol: 'BROKERA:ZERO:GBPUSD.z' })).toMatchObject({ status: 404 })
  })

  test('a share keeps its dot and its exchange, which is part of its identity', async () => {
    const french = await single('BROKERB:LIVE:AIR_CFD.FR')
    const american = await single('BROKERB:LIVE:AIR_CFD.US')
    expect(french.description).toBe('Airbus in Paris (BrokerB Live)')
    expect(american.description).toBe('AAR Corp in New York (BrokerB Live)')
    expect(await refusal({ symbol: 'BROKERB:LIVE:AIR_CFD' })).toMatchObject({ status: 404 })
    expect(await refusal({ symbol: 'BROKERB:LIVE:AIR' })).toMatchObject({ status: 404 })
  })

  test('a lower-case share class is significant', async () => {
    expect((await single('BROKERB:LIVE:BRKb_CFD.US')).description).toContain('Berkshire')
    expect((await single('BROKERB:LIVE:BRKB_CFD.US')).description).toContain('differs in case')
    expect(await refusal({ symbol: 'BROKERB:LIVE:brkb_CFD.US' })).toMatchObject({ status: 404 })
  })

  test('a look-up by symbol is case-sensitive in every part', async () => {
    for (const symbol of ['BROKERA:ZERO:eurusd', 'brokera:ZERO:EURUSD', 'BROKERA:zero:EURUSD']) {
      expect(await refusal({ symbol })).toMatchObject({ status: 404, code: 'SYMBOL_NOT_FOUND' })
    }
  })

  test('a key is split at its first two colons, the rest is the instrument', async () => {
    expect(await refusal({ symbol: 'BROKERA:ZERO:EUR:USD' })).toMatchObject({ status: 404 })
    expect(await refusal({ symbol: `${ungrantedFeed}:EUR:USD` })).toMatchObject({ status: 403 })
  })

  test('a key of fewer than three parts is an unknown symbol', async () => {
    for (const symbol of ['EURUSD', 'BROKERA:ZERO', 'BROKERA', ':', '::']) {
      expect(await refusal({ symbol })).toMatchObject({ status: 404, code: 'SYMBOL_NOT_FOUND' })
    }
  })

  test('names of JavaScript properties are ordinary unknown symbols', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      expect(await refusal({ symbol: `BROKERA:ZERO:${name}` })).toMatchObject({ status: 404 })
      expect(await refusal({ symbol: name })).toMatchObject({ status: 404 })
    }
  })
})
