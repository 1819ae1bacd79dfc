import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePorts } from '../support/free-ports.ts'

/** Proposes these ports first, then ports from 20,000 on. */
const picking = (...ports: number[]): (() => number) => {
  let spare = 20_000
  return () => ports.shift() ?? spare++
}

test('a port that was returned is not returned again, even without a listener', async () => {
  const [given = 0] = await freePorts(1)
  const [other] = await freePorts(1, picking(given))
  expect(other).not.toBe(given)
})

test('a port with a listener is not returned', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  expect(await freePorts(1, picking(port))).not.toContain(port)
})

test('the ports of one call differ and are below the range of the kernel for outgoing connections', async () => {
  const ports = await freePorts(20)
  expect(new Set(ports).size).toBe(20)
  expect(Math.max(...ports)).toBeLessThan(32_768)
})
