import { once } from 'node:events'
import { WebSocket } from 'ws'

// Evaluates its first argument in another Node process, through the inspector of that process. It must run in the
// network namespace of that process. It fails if the expression throws.

const inspector = 'http://127.0.0.1:9229/json/list'

interface Target {
  readonly webSocketDebuggerUrl: string
}
interface Reply {
  readonly result?: { readonly exceptionDetails?: object }
}

const [target] = (await (await fetch(inspector)).json()) as readonly Target[]
if (target === undefined) throw new Error('the inspector of the process lists no target')
const socket = new WebSocket(target.webSocketDebuggerUrl)
await once(socket, 'open')
const [, , expression] = process.argv
socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }))
const [text] = (await once(socket, 'message')) as [Buffer]
socket.terminate()
const { result } = JSON.parse(String(text)) as Reply
if (result === undefined || result.exceptionDetails) throw new Error(`the expression failed: ${String(text)}`)
