import { expect, test } from 'vitest'
import { copies, coveragePrograms, historyPrograms, statusPrograms, usagePrograms } from './copies.ts'

const origin = 'https://bars.example'

test('bars of a range are copied as three programs, and none has a key', () => {
  const text = copies(origin, historyPrograms('A:B:EURUSD', '60', 10, 20))
  expect(text.curl).toBe(
    `curl -H "X-API-Key: $FXD_API_KEY" 'https://bars.example/v1/history?symbol=A:B:EURUSD&resolution=60&from=10&to=20'`,
  )
  expect(text.TypeScript).toBe(`import { Fxd } from '@fxd/client'

const fxd = new Fxd({ url: 'https://bars.example' }) // the key is in FXD_API_KEY
for await (const bar of fxd.history('A:B:EURUSD', { resolution: '60', from: 10, to: 20 }))
  console.log(bar)`)
  expect(text.Python).toBe(`from fxd import Fxd

with Fxd("https://bars.example") as fxd:  # the key is in FXD_API_KEY
    for bar in fxd.history("A:B:EURUSD", resolution="60", start=10, end=20):
        print(bar)`)
})

test('a symbol with signs of a query or a shell stays one value', () => {
  const { curl, TypeScript } = copies(origin, historyPrograms("A:B:S&P'500", '1', 0, 0))
  expect(curl).toContain('symbol=A:B:S%26P%27500&')
  expect(TypeScript).toContain(`fxd.history("A:B:S&P'500"`)
})

test.for([
  [statusPrograms, '/v1/status', 'status()'],
  [coveragePrograms, '/v1/coverage', 'coverage()'],
  [usagePrograms(30), '/v1/usage?days=30', 'usage(30)'],
] as const)('other requests are copied with their call: %j', ([programs, path, call]) => {
  const { curl, TypeScript, Python } = copies(origin, programs)
  expect(curl).toContain(`'${origin}${path}'`)
  expect(TypeScript).toContain(`console.log(await fxd.${call})`)
  expect(Python).toContain(`    print(fxd.${call})`)
})
