import { Server, ServerCredentials } from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../services/platform/system-clock.ts'
import { Registry as Service } from '../services/wire/load.ts'
import { Registry } from './registry.ts'

test('a call asks again whether it may change something before it goes to the next address', async () => {
  const server = new Server()
  const suspended: string[] = []
  server.addService(Service.service, {
    SuspendKey: (call: { request: { id: string } }, done: (error: null, answer: object) => void) => {
      suspended.push(call.request.id)
      done(null, {})
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    const ready = (error: Error | null, bound: number): void => (error ? reject(error) : resolve(bound))
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), ready)
  })
  onTestFinished(() => server.forceShutdown())
  let asked = 0
  const registry = new Registry({
    // Nobody listens on port 1.
    addresses: ['127.0.0.1:1', `127.0.0.1:${port}`],
    identity: () => ({}),
    clock: systemClock,
    beforeWrite: () => {
      if (++asked > 1) throw new Error('this replica is not the leader')
    },
  })
  onTestFinished(() => registry.close())
  await expect(registry.suspendKey('a', 'u')).rejects.toThrow('not the leader')
  expect(suspended).toEqual([])
})
