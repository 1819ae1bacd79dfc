import type { Address } from '../platform/config.ts'
import { listenFailure } from '../platform/listen.ts'

/** Passes on why gRPC cannot listen, as a sentence that names the variable. */
export const grpcListenFailure =
  (address: Address) =>
  (cause: unknown): never => {
    throw listenFailure(address, 'FXD_GRPC_ADDR', cause)
  }
