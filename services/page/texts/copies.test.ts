import { expect, test } from 'vitest'
import { copies, historyPrograms, statusPrograms, usagePrograms, wallPrograms } from './copies.ts'

const origin = 'https://bars.example'

test('bars of a range are copied as programs that say how they run, and none has a key', () => {
  const text = copies(origin, historyPrograms('A:B:EURUSD', '60', 1_767_607_320, 1_767_610_920))
  expect(text.curl).toBe(`# First: export FXD_API_KEY=fxd_…
# 2026-01-05 10:02 to 2026-01-05 11:02 on the clock of the feed
curl -H "X-API-Key: $FXD_API_KEY" 'https://bars.example/v1/history?symbol=A:B:EURUSD&resolution=60&from=1767607320&to=1767610920'`)
  expect(text.TypeScript).toBe(`// In a checkout of fxd: npm ci && npm run client
// In your project: npm install CHECKOUT/clients/typescript
// Save this as program.mjs, then: export FXD_API_KEY=fxd_… and node program.mjs
import { Fxd } from '@fxd/client'

// 2026-01-05 10:02 to 2026-01-05 11:02 on the clock of the feed
const fxd = new Fxd({ url: 'https://bars.example' })
for await (const bar of fxd.history('A:B:EURUSD', { resolution: '60', from: 1767607320, to: 1767610920 }))
  console.log(bar)`)
  expect(text.Python).toBe(`# In a checkout of fxd: pip install ./clients/python
# First: export FXD_API_KEY=fxd_…
from fxd import Fxd

# 2026-01-05 10:02 to 2026-01-05 11:02 on the clock of the feed
with Fxd("https://bars.example") as fxd:
    for bar in fxd.history("A:B:EURUSD", resolution="60", start=1767607320, end=1767610920):
        print(bar)`)
})

test.for([
  [['A:B:X', 'A:B:Y'], '', `'A:B:'`],
  [['A:B:X'], 'symbol=A:B:X&', `'A:B:X'`],
] as const)(
  'the wall of the symbols %j asks for their ranges of its resolution',
  ([symbols, query, name]) => {
    const rows = symbols.map((symbol) => ({ symbol }))
    const { curl, TypeScript } = copies(origin, wallPrograms('A:B', '1', { rows, firstDay: 0, days: 30 }))
    expect(curl).toContain(`'${origin}/v1/coverage?${query}resolution=1'`)
    // A request has no days.
    expect(curl).not.toContain('1970')
    expect(TypeScript).toContain('// 1970-01-01 00:00 to 1970-01-30 23:59 on the clock of the feed')
    expect(TypeScript).toContain(`fxd.coverage(undefined, { resolution: '1' })`)
    expect(TypeScript).toContain(`symbol.startsWith(${name})`)
    expect(TypeScript).toContain('to >= 0 && from < 2592000')
  },
)

test('a symbol with signs of a query or a shell stays one value', () => {
  const { curl, TypeScript } = copies(origin, historyPrograms("A:B:S&P'500", '1', 0, 0))
  expect(curl).toContain('symbol=A:B:S%26P%27500&')
  expect(TypeScript).toContain(`fxd.history("A:B:S&P'500"`)
})

test.for([
  [statusPrograms, '/v1/status', 'status()'],
  [usagePrograms(30), '/v1/usage?days=30', 'usage(30)'],
] as const)('other requests are copied with their call: %j', ([programs, path, call]) => {
  const { curl, TypeScript, Python } = copies(origin, programs)
  expect(curl).toContain(`'${origin}${path}'`)
  expect(TypeScript).toContain(`console.log(await fxd.${call})`)
  expect(Python).toContain(`    print(fxd.${call})`)
})
