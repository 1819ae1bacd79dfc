import type { RequestListener } from 'node:http'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { failureFields } from '../../../../core/fault-place.ts'
import { formatRefusal } from '../../../../core/terminal/answer.ts'
import { isLoopback } from '../../../../platform/addresses.ts'
import { ConfigError } from '../../../../platform/config.ts'
import { openHttpServer } from '../../../../platform/http/http-server.ts'
import { pathOf } from '../../../../platform/http/request-path.ts'
import { formatAddress } from '../../../../platform/listen.ts'
import { LimitedLog } from '../../../../platform/log/limited-log.ts'
import type { Log } from '../../../../platform/log/log.ts'
import { type Counter, fromZero } from '../../../../platform/metrics.ts'
import type { TerminalEndpoint, TerminalEndpointDeps } from './endpoint-deps.ts'
import { Refusal, refusalCodes } from './refusal.ts'
import { type PostOrigin, TerminalPosts } from './terminal-posts.ts'

const terminalPath = '/v1/terminal'
const connectionsMax = 1_000
/** Interval at which sessions of silent terminals are ended. */
const silenceCheckMs = 1_000
/** Maximum bytes of a refused body that are read and dropped, so that its sender gets the answer. */
const skippedBytesMax = 16 * 1_048_576

const textType = 'text/plain; charset=utf-8'

/** Serves docs/terminal-protocol.md to the terminals of all feeds of this process. Throws `ConfigError`. */
export async function serveTerminals(deps: TerminalEndpointDeps): Promise<TerminalEndpoint> {
  const { address, tls, clock, log, metrics, acceptFailed } = deps
  refusePlainAddress(deps)
  const posts = new TerminalPosts(deps)
  const lines = new LimitedLog(log, clock)
  const counted = fromZero(
    metrics.counter(
      'fxd_terminal_posts_total',
      'Posts of terminals, by result: taken, or the code of the refusal.',
      ['result'],
    ),
    'result',
    ['taken', ...refusalCodes],
  )
  const app = createApp(posts, lines, counted)
  await app.ready()
  const dropped = metrics.counter(
    'fxd_terminal_dropped_connections_total',
    'New connections of terminals dropped because the maximum was open and none was idle.',
  )
  const http = await openHttpServer(
    {
      address,
      variable: 'FXD_TERMINAL_ADDR',
      tls,
      handle: contained(app, log),
      callerOf: (request) => posts.callerOf(request),
      connectionsMax,
      dropped: () => dropped.inc(),
      acceptFailed,
    },
    clock,
  )
  metrics.gauge('fxd_terminal_connections', 'Open connections of terminals.', [], (gauge) =>
    gauge.set(http.connections()),
  )
  const stopChecking = clock.every(silenceCheckMs, () => posts.endSilent())
  return {
    port: http.port,
    async close(graceMs) {
      posts.isStopping = true
      stopChecking()
      await http.close(graceMs)
      await app.close()
      lines.flush()
    },
  }
}

function refusePlainAddress({ address, tls, isPlainAllowed, trustedProxies }: TerminalEndpointDeps): void {
  if (tls || isPlainAllowed || trustedProxies.length > 0 || isLoopback(address.host)) return
  throw new ConfigError(
    `FXD_TERMINAL_ADDR is ${formatAddress(address)}, and tokens of terminals would cross the network without TLS: ` +
      'set FXD_TERMINAL_TLS_CERT and FXD_TERMINAL_TLS_KEY, or FXD_TRUSTED_PROXIES to the proxy in front, or FXD_TERMINAL_PLAIN=true.',
  )
}

function createApp(posts: TerminalPosts, lines: LimitedLog, counted: Counter<'result'>): FastifyInstance {
  const app = fastify({
    logger: false,
    trustProxy: false,
    return503OnClosing: false,
    // Proxies need not rewrite the path: any prefix is taken. The router never sees a broken escape, which it would answer
    // itself.
    rewriteUrl: ({ url = '' }) => (pathOf(url).endsWith(terminalPath) ? terminalPath : '/unknown'),
  })
  // The route reads the body itself, after it has checked who sends it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  const refuse = (cause: unknown, reply: FastifyReply, origin: PostOrigin): FastifyReply => {
    const refusal = refusalOf(cause, lines)
    const { code, message: why } = refusal
    counted.inc({ result: code })
    lines.write('warn', { ...origin, code, why }, 'post of a terminal refused', `${origin.feed} ${code}`)
    return send(reply, refusal)
  }
  app.post(terminalPath, async ({ raw }, reply) => {
    const origin = posts.originOf(raw)
    try {
      const text = await posts.answer(raw, origin)
      counted.inc({ result: 'taken' })
      return await reply.header('Cache-Control', 'no-store').type(textType).send(text)
    } catch (cause) {
      return refuse(cause, reply, origin)
    }
  })
  const unknown = ({ raw }: FastifyRequest, reply: FastifyReply): FastifyReply =>
    refuse(unknownRequest(raw.url ?? ''), reply, posts.originOf(raw))
  app.setNotFoundHandler(unknown)
  app.setErrorHandler((cause, { raw }, reply) => refuse(cause, reply, posts.originOf(raw)))
  return app
}

const unknownRequest = (url: string): Refusal =>
  url === terminalPath
    ? new Refusal('METHOD_NOT_ALLOWED', `${terminalPath} takes POST only.`)
    : new Refusal('NOT_FOUND', `Terminals post to ${terminalPath}; nothing else is here.`)

/** Any other error is a defect, or a request that the framework refuses. */
function refusalOf(cause: unknown, lines: LimitedLog): Refusal {
  if (cause instanceof Refusal) return cause
  const { statusCode = 500 } = cause as { readonly statusCode?: number }
  if (statusCode < 500) return new Refusal('BAD_POST', 'The request cannot be read.')
  lines.write('error', { ...failureFields(cause) }, 'taking a post of a terminal failed')
  return new Refusal('NOT_TAKEN', 'fxd failed to take the post, and its log says why; post the same again.')
}

function send(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { code, status, message, retryAfterSeconds } = refusal
  const { headers } = reply.request
  const isLong =
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > skippedBytesMax
  if (isLong || code === 'SLOW_BODY') reply.header('Connection', 'close')
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', retryAfterSeconds)
  if (code === 'TOKEN_INVALID') reply.header('WWW-Authenticate', 'Bearer')
  if (code === 'METHOD_NOT_ALLOWED') reply.header('Allow', 'POST')
  return reply
    .code(status)
    .header('Cache-Control', 'no-store')
    .type(textType)
    .send(formatRefusal(code, message))
}

/** The framework does not catch a defect outside of routes: it would end the process. */
const contained =
  (app: FastifyInstance, log: Log): RequestListener =>
  (request, response) => {
    try {
      app.routing(request, response)
    } catch (cause) {
      log.error(failureFields(cause), 'taking a post of a terminal failed')
      response.destroy()
    }
  }
