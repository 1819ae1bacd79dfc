import type { RegistryCaller } from './registry-client.ts'
import type { Terminal } from './terminal.ts'

/** Calls `act` with the registry. The gRPC client is loaded only then, so that `--help` does not wait for it. */
export async function withRegistry<T>(
  terminal: Terminal,
  act: (registry: RegistryCaller) => Promise<T>,
): Promise<T> {
  const { openRegistry } = await import('./registry-client.ts')
  const registry = openRegistry(terminal)
  try {
    return await act(registry)
  } finally {
    registry.close()
  }
}
