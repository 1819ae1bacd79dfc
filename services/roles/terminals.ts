import { serveTerminals } from '../collector/sources/terminal/endpoint/serve-terminals.ts'
import {
  feedOfToken,
  terminalTokensPath,
  watchTerminalTokens,
} from '../collector/sources/terminal/endpoint/terminal-tokens.ts'
import type { TerminalFeed } from '../collector/sources/terminal/terminal-feed.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import { watchTls } from '../platform/credentials/tls.ts'
import type { ProcessContext } from '../platform/process/process-context.ts'

/** Maximum time for posts under way at a stop. */
const graceMs = 2_000
export const terminalsStopTimeoutMs = 2 * graceMs

interface Listening {
  readonly port: number
  close(): Promise<void>
}

/** The endpoint of this process for its terminals. It listens once a feed has the source Terminal. */
export class Terminals {
  /** The feeds that are collected now. */
  readonly feeds = new Map<FeedKey, TerminalFeed>()
  readonly #context: ProcessContext
  #listening: Listening | undefined

  constructor(context: ProcessContext) {
    this.#context = context
  }

  /** `undefined` while it does not listen. */
  get port(): number | undefined {
    return this.#listening?.port
  }

  /** Rejects with `Fatal` if the address, a file or a combination of variables cannot be used. */
  async follow(definitions: readonly FeedDefinition[]): Promise<void> {
    if (this.#listening || !definitions.some(({ source }) => source.type === 'Terminal')) return
    this.#listening = await listen(this.#context, this.feeds)
  }

  async close(): Promise<void> {
    await this.#listening?.close()
  }
}

async function listen(
  context: ProcessContext,
  feeds: ReadonlyMap<FeedKey, TerminalFeed>,
): Promise<Listening> {
  const { config, clock, log, handles } = context
  const { terminalAddr, terminalTlsCert, terminalTlsKey, terminalPlain, trustedProxies } = config
  const tlsFiles = { tlsCert: terminalTlsCert, tlsKey: terminalTlsKey }
  const tls = watchTls(tlsFiles, clock, log, 'FXD_TERMINAL_TLS')
  const closing = [() => tls?.close()]
  try {
    const tokens = watchTerminalTokens(terminalTokensPath(config), clock, log)
    closing.push(() => tokens.close())
    const endpoint = await serveTerminals({
      ...context,
      address: terminalAddr,
      tls,
      isPlainAllowed: terminalPlain === 'true',
      trustedProxies,
      feedOf: (token) => feedOfToken(token, tokens.value),
      terminalOf: (feed) => feeds.get(feed),
      acceptFailed: (cause) => handles.failed('terminals', cause),
    })
    return {
      port: endpoint.port,
      async close() {
        await endpoint.close(graceMs)
        for (const close of closing) close()
      },
    }
  } catch (cause) {
    for (const close of closing) close()
    throw cause
  }
}
