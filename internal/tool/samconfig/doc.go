// Package samconfig reads samconfig.toml, the settings of SAM. [ReadTOML] returns all of them, with
// their places, and [DeploymentOf] says where an environment is deployed.
//
// It does not say what is wrong with the settings: the rules of ingot check do.
package samconfig
