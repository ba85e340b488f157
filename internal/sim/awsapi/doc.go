// Package awsapi serves a simulated AWS account over AWS's own wire protocols, so that the real SDK can be pointed at it.
//
// One listener answers for every service, distinguished by the credential scope
// of a request's signature, by its target header, or by its host:
//
//	EC2              query, XML
//	IAM, STS         query, XML
//	CloudFormation   query, XML: the one stack that made the account's roles, to look at and to delete
//	SSM, SQS         JSON
//	Pricing          JSON
//	EKS, zonal shift REST, JSON
//
// Signatures are read for who calls and where to, and not verified. What an
// account does not serve is refused as AWS refuses an operation or a parameter
// it does not know. The path /_tenon/ of the same listener is the account's
// control panel, see package fault.
package awsapi
