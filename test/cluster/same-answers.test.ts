import { beforeAll, expect, test } from 'vitest'
import { ask } from '../acceptance/client/http.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { basesOf } from './pods.ts'

let key = ''
beforeAll(async () => {
  ;({ key } = await issueKey())
})

const november = Date.UTC(2013, 10, 1) / 1000
const day = 86_400
const questions = [
  '/v1/config',
  '/v1/symbols?limit=1000',
  '/v1/symbols?search=usd&limit=5&offset=1',
  '/v1/symbols?symbol=BROKERA:ZERO:BTCUSD',
  '/v1/coverage?symbol=BROKERA:ZERO:BTCUSD',
  '/v1/coverage?symbol=BROKERC:TADIL:GOOGL',
  ...['1', '5', '30', '60', '1D', '1M'].flatMap((resolution) => [
    `/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=${resolution}&from=${november}&to=${november + 30 * day}`,
    `/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=${resolution}&countback=500&to=${november + 20 * day}`,
  ]),
  '/v1/history?symbol=BROKERA:ZERO:NOPE&resolution=1&countback=5',
  '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=7&countback=5',
]

test.each(questions)('every pod gives the same answer to %s', async (path) => {
  const answers = await Promise.all(basesOf('rest').map((base) => ask(path, { key, base })))
  const [first, ...others] = answers.map(({ status, text }) => ({ status, text }))
  expect(others.length).toBeGreaterThan(0)
  for (const other of others) expect(other).toEqual(first)
})
