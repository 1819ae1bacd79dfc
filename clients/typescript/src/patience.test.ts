import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Fxd } from './fxd.ts'
import { jitterMs } from './pause.ts'

/** A server that refuses with these values of Retry-After, in seconds, then answers without data. */
const serve = async (...waits: number[]) => {
  let asked = 0
  const server = createServer((_, response) => {
    asked += 1
    const wait = waits.shift()
    if (wait === undefined) return response.end('{"s":"no_data"}')
    const body = '{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"full"}}'
    return response.writeHead(429, wait > 0 ? { 'Retry-After': wait } : {}).end(body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { fxd: new Fxd({ url, key: 'fxd_x' }), asked: () => asked }
}
const full = { code: 'RATE_LIMIT_EXCEEDED', status: 429, mayPass: true }

test('history retries a request that may pass', async () => {
  const { fxd, asked } = await serve(0)
  expect(await fxd.history('A:B:C').next()).toMatchObject({ done: true })
  expect(asked()).toBe(2)
})

test('history ends at once if the service wants a pause of more than two minutes', async () => {
  const { fxd, asked } = await serve(121)
  await expect(fxd.history('A:B:C').next()).rejects.toMatchObject({ ...full, retryAfter: 121 })
  expect(asked()).toBe(1)
})

test('the other calls are tried once', async () => {
  const { fxd, asked } = await serve(0, 0, 0, 0, 0, 0)
  const symbols = fxd.symbols().next()
  for (const call of [symbols, fxd.symbol('A:B:C'), fxd.coverage(), fxd.status(), fxd.usage(), fxd.config()])
    await expect(call).rejects.toMatchObject(full)
  expect(asked()).toBe(6)
})

test('a pause is random from 0.5 s up to a limit, which doubles from 1 to 30 s', () => {
  const random = vi.spyOn(Math, 'random')
  onTestFinished(() => random.mockRestore())
  const pauses = (value: number): number[] => {
    random.mockReturnValue(value)
    return [0, 1, 4, 5, 50].map(jitterMs)
  }
  expect(pauses(0)).toEqual([500, 500, 500, 500, 500])
  expect(pauses(1)).toEqual([1_000, 2_000, 16_000, 30_000, 30_000])
})
