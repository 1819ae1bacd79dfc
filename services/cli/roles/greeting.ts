import { resolve } from 'node:path'
import { type Config, parseConfig } from '../../platform/config.ts'
import { formatAddress, reachable } from '../../platform/listen.ts'
import type { RunningAll, ShownFeed } from '../../roles/all.ts'
import { table } from '../table.ts'

type Started = Pick<RunningAll, 'httpPort' | 'grpcPort' | 'opsPort' | 'terminalPort' | 'firstKey' | 'feeds'>

const feedsShown = 10
const symbolsShown = 5

export function greeting(config: Config, started: Started): string {
  const { httpPort, grpcPort, opsPort, terminalPort, firstKey } = started
  const at = (address: Config['httpAddr'], port: number): string =>
    formatAddress({ ...reachable(address), port })
  const http = at(config.httpAddr, httpPort)
  const scheme = config.terminalTlsCert === undefined ? 'http' : 'https'
  const lines = [
    'fxd is ready.',
    '',
    `  REST, WebSocket and a page to look at   http://${http}/`,
    `  collectors and the command line (gRPC)  ${at(config.grpcAddr, grpcPort)}`,
    `  health and metrics                      http://${at(config.opsAddr, opsPort)}/metrics`,
    ...(terminalPort === undefined
      ? []
      : [`  programs in terminals                   ${scheme}://${at(config.terminalAddr, terminalPort)}`]),
    `  state                                   ${stateOf(config)}`,
    '',
  ]
  if (firstKey !== undefined) lines.push(...firstSteps(http, firstKey))
  else lines.push(...ownFeeds(config, started.feeds()), ...keySteps(config, http, started))
  return `${lines.join('\n')}\n`
}

const stateOf = ({ store, dataDir, questdbHttp }: Config): string =>
  store === 'questdb' ? `QuestDB at ${formatAddress(questdbHttp)}, and ${dataDir}` : dataDir

/** A symbol that trades at weekends too, so that the first try works on any day. */
const demoSymbol = 'BROKERA:ZERO:BTCUSD'

function firstSteps(http: string, key: string): string[] {
  const subscribe = `JSON.stringify({ action: 'subscribe', symbols: ['${demoSymbol}'] })`
  const script =
    `const ws = new WebSocket('ws://${http}/v1/stream?api_key=${key}'); ws.onopen = () => ws.send(${subscribe}); ` +
    `ws.onmessage = ({ data }) => console.log(data); setInterval(() => ws.send('{"action":"ping"}'), 30000)`
  return [
    `This is a key for the demo feeds. It is shown only once: ${key}`,
    'Try:',
    '',
    `  curl -H 'X-API-Key: ${key}' 'http://${http}/v1/history?symbol=${demoSymbol}&resolution=1&countback=5'`,
    '',
    `  curl -H 'X-API-Key: ${key}' http://${http}/v1/status`,
    '',
    `  bin/node -e "${script.replaceAll('"', '\\"')}"`,
    '',
  ]
}

/** Lists the feeds of FXD_FEEDS; the demo feeds need no list. */
function ownFeeds(config: Config, feeds: readonly ShownFeed[]): string[] {
  if (config.feeds === undefined) return []
  const rows = feeds
    .slice(0, feedsShown)
    .map((feed) => [feed.definition.key, symbolsText(feed), sourceText(feed.definition.source)])
  const more = feeds.length - rows.length
  const lines = table(['FEED', 'SYMBOLS', 'SOURCE'], rows).trimEnd().split('\n')
  return [...lines.map((line) => `  ${line}`), ...(more > 0 ? [`  and ${more} more feeds`] : []), '']
}

function symbolsText({ definition, symbols }: ShownFeed): string {
  if (symbols.length === 0) return 'none yet'
  const shown = symbols.slice(0, symbolsShown).map((symbol) => symbol.slice(definition.key.length + 1))
  const more = symbols.length - shown.length
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function sourceText(source: ShownFeed['definition']['source']): string {
  if (source.type === 'Mt5Csv') return `exports ${source.follow ? 'followed' : 'read once'}: ${source.path}`
  if (source.type === 'Terminal') return 'a program in its terminal'
  return source.type === 'Push' ? 'a collector that connects, or fxd import' : 'a simulator'
}

/** Explains how to create a key, because a key is shown only then, and a first request with it. */
function keySteps(config: Config, http: string, { feeds, grpcPort }: Started): string[] {
  const all = feeds()
  if (all.length === 0) return []
  const granted = all.slice(0, feedsShown).map(({ definition }) => definition.key)
  const lines = [
    'A key is shown only when it is created. This command creates another key:',
    '',
    `  ${settings(config, grpcPort)}npm run -s fxd -- keys create --plan pro --feeds ${granted.join(',')}`,
    '',
  ]
  const symbol =
    config.feeds === undefined ? demoSymbol : all.flatMap(({ symbols }) => symbols.slice(0, 1))[0]
  if (symbol === undefined)
    return [...lines, 'Symbols appear with their terminal, exports, collector or import.', '']
  const resolution = all.find(({ symbols }) => symbols.includes(symbol as never))?.definition.resolutions[0]
  const query = `symbol=${encodeURIComponent(symbol).replaceAll('%3A', ':')}&resolution=${resolution ?? '1'}&countback=5`
  return [
    ...lines,
    'With the key in KEY:',
    '',
    `  curl -H "X-API-Key: $KEY" 'http://${http}/v1/history?${query}'`,
    '',
  ]
}

/** The variables that lead the command line to the service, where they differ from the defaults. */
function settings(config: Config, grpcPort: number): string {
  const usual = parseConfig({})
  const address = formatAddress({ ...reachable(config.grpcAddr), port: grpcPort })
  const path = (name: string, file: string | undefined): string[] =>
    file === undefined ? [] : [`${name}=${shellWord(resolve(file))}`]
  const named = [
    ...(config.dataDir === usual.dataDir ? [] : [`FXD_DATA_DIR=${shellWord(resolve(config.dataDir))}`]),
    ...(address === formatAddress(usual.grpcAddr) ? [] : [`FXD_GRPC_ADDR=${address}`]),
    ...path('FXD_TOKEN_FILE', config.tokenFile),
    ...path('FXD_TLS_CA', config.tlsCa),
  ]
  return named.map((each) => `${each} `).join('')
}

const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
