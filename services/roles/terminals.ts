import type { TerminalEndpointDeps } from '../collector/sources/terminal/endpoint/endpoint-deps.ts'
import { serveTerminals } from '../collector/sources/terminal/endpoint/serve-terminals.ts'
import {
  feedOfToken,
  terminalTokensPath,
  watchTerminalTokens,
} from '../collector/sources/terminal/endpoint/terminal-tokens.ts'
import { watchTls } from '../platform/credentials/tls.ts'
import type { ProcessContext } from '../platform/process/process-context.ts'

/** Maximum time for posts under way at a stop. */
const terminalsGraceMs = 2_000

/** Starts the endpoint for the terminals of this process; returns its port. Throws `ConfigError`. */
export async function startTerminals(
  context: ProcessContext,
  terminalOf: TerminalEndpointDeps['terminalOf'],
): Promise<number> {
  const { config, clock, log, lifecycle } = context
  const { terminalAddr, terminalTlsCert, terminalTlsKey, terminalPlain, trustedProxies } = config
  const tls = await lifecycle.start({
    name: 'TLS files of terminals',
    start: () =>
      watchTls({ tlsCert: terminalTlsCert, tlsKey: terminalTlsKey }, clock, log, 'FXD_TERMINAL_TLS'),
    stop: (watched) => watched?.close(),
  })
  const tokens = await lifecycle.start({
    name: 'tokens of terminals',
    start: () => watchTerminalTokens(terminalTokensPath(config), clock, log),
    stop: (watched) => watched.close(),
  })
  const endpoint = await lifecycle.start({
    name: 'terminals',
    start: () =>
      serveTerminals({
        ...context,
        address: terminalAddr,
        tls,
        isPlainAllowed: terminalPlain === 'true',
        trustedProxies,
        feedOf: (token) => feedOfToken(token, tokens.value),
        terminalOf,
      }),
    stop: (started) => started.close(terminalsGraceMs),
    stopTimeoutMs: 2 * terminalsGraceMs,
  })
  return endpoint.port
}
