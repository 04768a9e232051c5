"""`tf.errors`: the exceptions ops raise."""

from typing import TYPE_CHECKING

from tapejax._src.core.errors import ABORTED as ABORTED
from tapejax._src.core.errors import ALREADY_EXISTS as ALREADY_EXISTS
from tapejax._src.core.errors import CANCELLED as CANCELLED
from tapejax._src.core.errors import DATA_LOSS as DATA_LOSS
from tapejax._src.core.errors import DEADLINE_EXCEEDED as DEADLINE_EXCEEDED
from tapejax._src.core.errors import FAILED_PRECONDITION as FAILED_PRECONDITION
from tapejax._src.core.errors import INTERNAL as INTERNAL
from tapejax._src.core.errors import INVALID_ARGUMENT as INVALID_ARGUMENT
from tapejax._src.core.errors import NOT_FOUND as NOT_FOUND
from tapejax._src.core.errors import OK as OK
from tapejax._src.core.errors import OUT_OF_RANGE as OUT_OF_RANGE
from tapejax._src.core.errors import PERMISSION_DENIED as PERMISSION_DENIED
from tapejax._src.core.errors import RESOURCE_EXHAUSTED as RESOURCE_EXHAUSTED
from tapejax._src.core.errors import UNAUTHENTICATED as UNAUTHENTICATED
from tapejax._src.core.errors import UNAVAILABLE as UNAVAILABLE
from tapejax._src.core.errors import UNIMPLEMENTED as UNIMPLEMENTED
from tapejax._src.core.errors import UNKNOWN as UNKNOWN
from tapejax._src.core.errors import AbortedError as AbortedError
from tapejax._src.core.errors import AlreadyExistsError as AlreadyExistsError
from tapejax._src.core.errors import CancelledError as CancelledError
from tapejax._src.core.errors import DataLossError as DataLossError
from tapejax._src.core.errors import DeadlineExceededError as DeadlineExceededError
from tapejax._src.core.errors import FailedPreconditionError as FailedPreconditionError
from tapejax._src.core.errors import InaccessibleTensorError as InaccessibleTensorError
from tapejax._src.core.errors import InternalError as InternalError
from tapejax._src.core.errors import InvalidArgumentError as InvalidArgumentError
from tapejax._src.core.errors import NotFoundError as NotFoundError
from tapejax._src.core.errors import (
    OperatorNotAllowedInGraphError as OperatorNotAllowedInGraphError,
)
from tapejax._src.core.errors import OpError as OpError
from tapejax._src.core.errors import OutOfRangeError as OutOfRangeError
from tapejax._src.core.errors import PermissionDeniedError as PermissionDeniedError
from tapejax._src.core.errors import ResourceExhaustedError as ResourceExhaustedError
from tapejax._src.core.errors import UnauthenticatedError as UnauthenticatedError
from tapejax._src.core.errors import UnavailableError as UnavailableError
from tapejax._src.core.errors import UnimplementedError as UnimplementedError
from tapejax._src.core.errors import UnknownError as UnknownError
from tapejax._src.core.errors import (
    error_code_from_exception_type as error_code_from_exception_type,
)
from tapejax._src.core.errors import (
    exception_type_from_error_code as exception_type_from_error_code,
)
from tapejax._src.report.missing import missing_attribute

if not TYPE_CHECKING:  # a type checker must go on reporting names that do not exist
    __getattr__ = missing_attribute(__name__)
