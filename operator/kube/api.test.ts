import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { KubeConfig } from '@kubernetes/client-node'
import { expect, onTestFinished, test } from 'vitest'
import { CertificateFixture } from '../../test/support/fixtures/certificate-fixture.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { HttpKubeApi } from './api.ts'
import { resources } from './resources.ts'

test('a watch without an event or a bookmark for 90 s times out', async () => {
  const fixture = new CertificateFixture()
  onTestFinished(() => fixture.remove())
  const ca = fixture.authority('ours')
  const pair = fixture.certificate('server')
  let send: (text: string) => void = () => undefined
  const server = createServer({ cert: fixture.read(pair.cert), key: fixture.read(pair.key) }, (_, answer) => {
    answer.writeHead(200).flushHeaders()
    send = (text) => void answer.write(text)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const config = new KubeConfig()
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  config.loadFromClusterAndUser({ name: 'c', server: url, caFile: ca, skipTLSVerify: false }, { name: 'u' })
  const clock = createVirtualClock()
  const api = new HttpKubeApi({ config, namespace: 'n', clock, beforeWrite: () => undefined })
  onTestFinished(() => api.close())
  const opened = Promise.withResolvers<void>()
  let taken = Promise.withResolvers<void>()
  let result = 'goes on'
  const ended = api
    .watch(resources.feeds, '1', {
      opened: () => opened.resolve(),
      received: () => taken.resolve(),
      signal: new AbortController().signal,
    })
    .catch((cause: Error) => void (result = `${cause}`))
  await opened.promise
  for (let i = 0; i < 2; i++) {
    await clock.advance(60_000)
    taken = Promise.withResolvers<void>()
    send('{"type":"BOOKMARK","object":{"metadata":{"name":""}}}\n')
    await taken.promise
  }
  await clock.advance(89_000)
  expect(result).toBe('goes on')
  await clock.advance(2_000)
  expect(clock.pending).toBe(0)
  await ended
  expect(result).toContain('Error')
})
