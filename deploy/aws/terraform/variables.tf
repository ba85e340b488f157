variable "cluster_name" {
  type        = string
  description = "Name of the EKS cluster"
  validation {
    condition     = can(regex("^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$", var.cluster_name))
    error_message = "The name of an EKS cluster has up to 100 letters, digits, hyphens and underscores."
  }
}

variable "oidc_provider_arn" {
  type        = string
  description = "ARN of the cluster's OIDC provider, for IRSA; empty: Pod Identity is used"
  default     = ""
}

variable "namespace" {
  type        = string
  description = "Namespace of the controller"
  default     = "karpenter"
}

variable "service_account" {
  type        = string
  description = "Service account of the controller"
  default     = "karpenter"
}

variable "tags" {
  type        = map(string)
  description = "Tags of all that is made"
  default     = {}
}
