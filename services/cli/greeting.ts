import type { Config } from '../platform/config.ts'
import { formatAddress, reachable } from '../platform/listen.ts'
import type { RunningAll } from '../roles/all.ts'

type Started = Pick<RunningAll, 'httpPort' | 'grpcPort' | 'opsPort' | 'firstKey'>

/** What a person sees once the service is ready: where it is and, the first time, how to try it. */
export function greeting(config: Config, { httpPort, grpcPort, opsPort, firstKey }: Started): string {
  const at = (address: Config['httpAddr'], port: number): string =>
    formatAddress({ ...reachable(address), port })
  const http = at(config.httpAddr, httpPort)
  const lines = [
    'fxd is ready.',
    '',
    `  REST, WebSocket and a page to look at   http://${http}/`,
    `  collectors and the command line (gRPC)  ${at(config.grpcAddr, grpcPort)}`,
    `  health and metrics                      http://${at(config.opsAddr, opsPort)}/metrics`,
    `  state                                   ${stateOf(config)}`,
    '',
  ]
  if (firstKey !== undefined) lines.push(...firstSteps(http, firstKey))
  return `${lines.join('\n')}\n`
}

const stateOf = ({ store, dataDir, questdbHttp }: Config): string =>
  store === 'questdb' ? `QuestDB at ${formatAddress(questdbHttp)}, and ${dataDir}` : dataDir

/** With a symbol that trades at weekends too: the first try must not depend on the day. */
function firstSteps(http: string, key: string): string[] {
  const subscribe = "JSON.stringify({ action: 'subscribe', symbols: ['BROKERA:ZERO:BTCUSD'] })"
  const script =
    `const ws = new WebSocket('ws://${http}/v1/stream?api_key=${key}'); ws.onopen = () => ws.send(${subscribe}); ` +
    `ws.onmessage = ({ data }) => console.log(data); setInterval(() => ws.send('{"action":"ping"}'), 30000)`
  return [
    `This is a key for the demo feeds. It is shown this once: ${key}`,
    'Try:',
    '',
    `  curl -H 'X-API-Key: ${key}' 'http://${http}/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=5'`,
    '',
    `  curl -H 'X-API-Key: ${key}' http://${http}/v1/status`,
    '',
    `  bin/node -e "${script.replaceAll('"', '\\"')}"`,
    '',
  ]
}
