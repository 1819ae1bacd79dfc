/**
 * Kubernetes gives every container of a namespace variables about its Services, named after them. Those of a Service
 * whose name begins with `fxd` begin with `FXD_` and say nothing to us.
 */
const ofServices =
  /^FXD(_[A-Z0-9]+)*_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/
/** A person may write such a name, too; the value tells. */
const addressOfService = /^FXD(_[A-Z0-9]+)*_PORT$/
const address = /^(tcp|udp|sctp):\/\//

/** Whether Kubernetes, not a person, set a variable of this name to this value. */
export const isInjected = (name: string, value: string): boolean =>
  ofServices.test(name) || (addressOfService.test(name) && address.test(value))
