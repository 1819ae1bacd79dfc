/**
 * Follows the live bars of some symbols for ever, each bar once and in order: it reconnects with jitter, resumes with
 * `since`, and reads what a GAP frame names from history. docs/api.md explains the frames.
 *
 * usage: KEY=fxd_… bin/node docs/examples/follow.mjs http://localhost:8080 BROKER:ACCOUNT:NAME…
 */
const [base, ...symbols] = process.argv.slice(2)
const key = process.env.KEY
/** By symbol: the open of its newest bar. Keep it on disk to resume after a restart of this program. */
const newest = new Map()
const timeMax = 253_402_300_799
let failures = 0

if (!base || symbols.length === 0 || !key) {
  console.error('usage: KEY=fxd_… bin/node docs/examples/follow.mjs http://localhost:8080 BROKER:ACCOUNT:NAME…')
  process.exit(64)
}

function take(symbol, bar) {
  if (bar.time <= (newest.get(symbol) ?? -1)) return
  newest.set(symbol, bar.time)
  console.log(JSON.stringify({ symbol, ...bar }))
}

async function fill({ symbol, after = newest.get(symbol), until = timeMax }) {
  if (after === undefined) return
  const query = new URLSearchParams({ symbol, resolution: '1', from: after + 1, to: until })
  const response = await fetch(`${base}/v1/history?${query}`, { headers: { 'X-API-Key': key } })
  const history = await response.json()
  if (!response.ok) throw new Error(history.errmsg)
  const { t = [], o, h, l, c, v } = history
  t.forEach((time, i) => take(symbol, { time, open: o[i], high: h[i], low: l[i], close: c[i], volume: v[i] }))
}

async function handle(message) {
  if (message.type === 'bar') take(message.symbol, message.bar)
  else if (message.code === 'GAP') for (const gap of message.gaps) await fill(gap)
  else if (message.type !== 'pong') console.error(message)
}

/** Why the key is refused; a WebSocket does not tell, so REST is asked. `undefined`: it is not refused. */
async function refusal() {
  const response = await fetch(`${base}/v1/status`, { headers: { 'X-API-Key': key } })
  return response.status === 401 ? (await response.json()).error.message : undefined
}

function connect() {
  const ws = new WebSocket(`${base.replace(/^http/, 'ws')}/v1/stream?api_key=${key}`)
  let heardMs = Date.now()
  // One message after the other, so that a gap is filled before later bars are taken.
  let handled = Promise.resolve()
  const pings = setInterval(() => {
    if (Date.now() - heardMs > 60_000) ws.close()
    else if (ws.readyState === WebSocket.OPEN) ws.send('{"action":"ping"}')
  }, 20_000)
  ws.onopen = () => {
    failures = 0
    const since = Object.fromEntries(newest)
    ws.send(JSON.stringify({ action: 'subscribe', symbols, since }))
  }
  ws.onmessage = ({ data }) => {
    heardMs = Date.now()
    // What cannot be filled now is asked for again: a new connection resumes at the newest bar taken.
    handled = handled.then(() => handle(JSON.parse(data)))
    handled.catch(() => ws.close())
  }
  ws.onclose = async ({ code }) => {
    clearInterval(pings)
    await handled.catch((error) => console.error(error.message))
    // A refused upgrade, as with a wrong key, closes with 1006.
    const refused = code === 1006 ? await refusal().catch(() => undefined) : undefined
    if (code >= 4500 || refused) {
      process.exitCode = 1
      return console.error(`closed with ${code}: ${refused ?? 'a person must act first'}`)
    }
    console.error(`closed with ${code}; connecting again`)
    setTimeout(connect, Math.random() * Math.min(30_000, 500 * 2 ** failures++))
  }
}

connect()
