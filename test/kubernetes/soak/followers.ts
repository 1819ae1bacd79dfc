import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkItems } from '../../faults/checks/check-items.ts'
import { Follower, hasNewest, languages } from '../../faults/clients/follower.ts'
import { feed } from '../../faults/support/market.ts'
import { readHistory } from '../../faults/support/read-history.ts'
import { within } from '../../faults/support/within.ts'
import { endForeignProcesses } from '../../interop/foreign-process.ts'
import { freePorts } from '../../support/free-ports.ts'
import { domain, ports } from '../cluster/ingress.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { namespace } from '../installed/installed.ts'
import type { UnderLoad } from '../installed/under-load.ts'
import { tlsTunnel } from '../tls-tunnel.ts'
import { recoveryMs } from './expect-nothing-missed.ts'

const complaintsMax = 20

export interface Followers {
  /** Resolves with one sentence for each wrong or missing bar of the programs. Stop the load before. */
  complaints(): Promise<readonly string[]>
  stop(): Promise<void>
}

/** Starts a program of each client, which follows the feed of the load through the ingress. */
export async function startFollowers({ installed, outside, traffic }: UnderLoad): Promise<Followers> {
  const home = mkdtempSync(join(tmpdir(), 'fxd-followers-'))
  const key = await deliveredKey(installed.cluster, namespace, 'load')
  const keyFile = join(home, 'key')
  writeFileSync(keyFile, key)
  const [port = 0] = await freePorts(1)
  const ingress = `${installed.cluster.network.address}:${ports.https}`
  const tunnel = tlsTunnel({ home, port, ingress, domain, authority: installed.ca })
  await tunnel.start()
  const { market } = traffic
  const followers = languages.map(
    (language) =>
      new Follower({
        language,
        url: `http://127.0.0.1:${port}`,
        keyFile,
        symbols: [feed],
        start: market.liveBegin,
        buffer: 100_000,
      }),
  )
  return {
    async complaints() {
      const shown = await readHistory({ get: (path) => outside.get(path, key) }, market, '1')
      const history = new Map(
        [...shown].map(([symbol, bars]) => [`${feed}:${symbol}`, bars.map(({ time }) => time as number)]),
      )
      await within(recoveryMs, 'the programs to give the newest bars', () =>
        followers.every((each) => hasNewest(each, history)),
      ).catch(() => undefined)
      for (const { language, items } of followers) console.log(`${language}: ${items.length} items`)
      return followers.flatMap(({ language, ends, items }) => [
        ...ends.map((end) => `${language} ended: ${end}`),
        ...checkItems(items, history, market.liveBegin)
          .slice(0, complaintsMax)
          .map(({ kind, text }) => `${language}: ${kind}: ${text}`),
      ])
    },
    async stop() {
      endForeignProcesses()
      await tunnel.kill()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
